import type { Log } from "@upstow/contract";
import { useLoad } from "../../load.ts";
import { Failure } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { LogRow } from "../logs/log-row.tsx";
import type { FoundFile } from "./found-file.ts";

/** What happened to a file: requested, uploaded, delivered, transformed, changed. Newest first. */
export function FileTimeline({ file }: { file: FoundFile }) {
  const { api, urlOf } = useWorkspace();
  const query = new URLSearchParams({ text: file.id, since: file.createdAt, limit: "20" });
  const { data, error, reload } = useLoad<{ logs: Log[] }>(`${api}/logs/search?${query}`);
  if (error !== null) return <Failure error={error} retry={reload} />;
  return (
    <section aria-label="Timeline">
      <h3>Timeline</h3>
      {data !== null && data.logs.length === 0 && <p className="dim">No log entries for this file.</p>}
      <ul className="rows small-rows timeline">
        {data?.logs.map((log) => (
          <LogRow key={log.id} log={log} isInFile />
        ))}
      </ul>
      <p className="dim">
        Downloads are not logged. <Link to={urlOf("usage")}>Usage</Link> shows the project’s bandwidth.
      </p>
      <p>
        <Link to={`${urlOf("webhooks")}?text=${file.id}`}>Webhook deliveries for this file</Link>
      </p>
    </section>
  );
}

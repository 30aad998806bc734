import type { Delivery, FileListItem, Usage } from "@upstow/contract";
import { formatAgo, formatBytes } from "../format.ts";
import { useLoad } from "../load.ts";
import { Meters } from "../parts/meters.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { Link } from "../router.tsx";
import { useWorkspace } from "../workspace.ts";

export default function Overview() {
  const { api, project, environment } = useWorkspace();
  const usage = useLoad<Usage>(`${api}/usage`);
  const files = useLoad<{ files: FileListItem[] }>(`${api}/files?limit=6`);
  const failing = useLoad<{ deliveries: Delivery[] }>(`${api}/webhooks/deliveries?status=dead&limit=5`);
  const pageOf = (page: string) => `/p/${project.id}/${environment}/${page}`;
  return (
    <>
      <h1>
        <SafeText text={project.name} />
      </h1>
      <section aria-label="This month">
        {usage.error !== null && <Failure error={usage.error} retry={usage.reload} />}
        {usage.data !== null && <Meters usage={usage.data} />}
      </section>
      {failing.data !== null && failing.data.deliveries.length > 0 && (
        <section className="notice bad">
          <p>
            Some webhooks could not be delivered. <Link to={pageOf("webhooks")}>See why</Link>
          </p>
        </section>
      )}
      <section>
        <h2>Recent files</h2>
        {files.error !== null && <Failure error={files.error} retry={files.reload} />}
        {files.data === null && files.error === null && <Loading />}
        {files.data?.files.length === 0 && (
          <Empty title="No files yet">
            <p>
              Make a key under <Link to={pageOf("settings")}>API keys</Link> and upload the first one;{" "}
              <a href="/docs">the documentation</a> shows how.
            </p>
          </Empty>
        )}
        {files.data !== null && files.data.files.length > 0 && (
          <ul className="rows">
            {files.data.files.map((file) => (
              <li key={file.id}>
                <span className="grow name">
                  <SafeText text={file.name} />
                </span>
                <span className="dim">{formatBytes(file.size)}</span>
                <span className="dim">{formatAgo(file.createdAt)}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

import type { FileListItem, Log, Usage } from "@upstow/contract";
import { formatAgo, formatBytes } from "../../format.ts";
import { type Loaded, useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { LogRow } from "../logs/log-row.tsx";
import { FailingWebhooks } from "./failing-webhooks.tsx";
import { GetStarted } from "./get-started.tsx";
import { UsageCharts, type UsageDays } from "./usage-charts.tsx";

export default function Overview() {
  const { api, project } = useWorkspace();
  const files = useLoad<{ files: FileListItem[] }>(`${api}/files?limit=6`);
  const usage = useLoad<Usage>(`${api}/usage`);
  const days = useLoad<UsageDays>(`${api}/usage/days?days=30`);
  const activity = useLoad<{ logs: Log[] }>(`${api}/logs?limit=6`);
  const isNew = files.data?.files.length === 0;
  // A project without files is shown how to begin: nothing is drawn that this would replace.
  const isKnown = files.data !== null || files.error !== null;
  return (
    <>
      <h1>
        <SafeText text={project.name} />
      </h1>
      <FailingWebhooks />
      {!isKnown && <Loading />}
      {isNew && <GetStarted />}
      {isKnown && !isNew && (
        <>
          <section>
            <h2>Last 30 days</h2>
            {usage.error !== null && <Failure error={usage.error} retry={usage.reload} />}
            <UsageCharts days={days} limits={usage.data?.limits ?? null} />
          </section>
          <div className="columns">
            <section>
              <h2>Recent files</h2>
              <RecentFiles files={files} />
            </section>
            <section>
              <h2>Recent activity</h2>
              <RecentActivity activity={activity} />
            </section>
          </div>
        </>
      )}
    </>
  );
}

function RecentFiles({ files: { data, ...list } }: { files: Loaded<{ files: FileListItem[] }> }) {
  const { urlOf } = useWorkspace();
  return (
    <ListState list={{ ...list, items: data?.files ?? [] }} empty={<Empty title="No files" />}>
      <ul className="rows" aria-label="Recent files">
        {data?.files.map((file) => (
          <li key={file.id}>
            <span className="grow name">
              <Link to={urlOf(`files/${file.id}`)}>
                <SafeText text={file.name} />
              </Link>
            </span>
            <span className="dim">{formatBytes(file.size)}</span>
            <span className="dim ago">{formatAgo(file.createdAt)}</span>
          </li>
        ))}
      </ul>
      <p className="more">
        <Link to={urlOf("files")}>All files</Link>
      </p>
    </ListState>
  );
}

function RecentActivity({ activity: { data, ...list } }: { activity: Loaded<{ logs: Log[] }> }) {
  const { urlOf } = useWorkspace();
  return (
    <ListState list={{ ...list, items: data?.logs ?? [] }} empty={<Empty title="No log entries" />}>
      <ul className="rows timeline" aria-label="Recent activity">
        {data?.logs.map((log) => (
          <LogRow key={log.id} log={log} isInFile />
        ))}
      </ul>
      <p className="more">
        <Link to={urlOf("logs")}>All logs</Link>
      </p>
    </ListState>
  );
}

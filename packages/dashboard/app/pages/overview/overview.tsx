import type { FileListItem, Usage } from "@upstow/contract";
import { formatAgo, formatBytes } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Meters } from "../../parts/meters.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FailingWebhooks } from "./failing-webhooks.tsx";
import { UsageCharts } from "./usage-charts.tsx";

export default function Overview() {
  const { api, project } = useWorkspace();
  const usage = useLoad<Usage>(`${api}/usage`);
  return (
    <>
      <h1>
        <SafeText text={project.name} />
      </h1>
      <FailingWebhooks />
      <section aria-label="This month">
        {usage.error !== null && <Failure error={usage.error} retry={usage.reload} />}
        {usage.data === null && usage.error === null && <Loading />}
        {usage.data !== null && <Meters usage={usage.data} />}
      </section>
      <section>
        <h2>The last 30 days</h2>
        <UsageCharts />
      </section>
      <section>
        <h2>Recent files</h2>
        <RecentFiles />
      </section>
    </>
  );
}

function RecentFiles() {
  const { api, project, environment } = useWorkspace();
  const { data, ...list } = useLoad<{ files: FileListItem[] }>(`${api}/files?limit=6`);
  const pageOf = (page: string) => `/p/${project.id}/${environment}/${page}`;
  const empty = (
    <Empty title="No files yet">
      <p>
        Upload the first one under <Link to={pageOf("files")}>Files</Link>, or from your application:{" "}
        <a href="/docs">the documentation</a> shows how.
      </p>
    </Empty>
  );
  return (
    <ListState list={{ ...list, items: data?.files ?? [] }} empty={empty}>
      <ul className="rows">
        {data?.files.map((file) => (
          <li key={file.id}>
            <span className="grow name">
              <Link to={`${pageOf("files")}?${new URLSearchParams({ name: file.name })}`}>
                <SafeText text={file.name} />
              </Link>
            </span>
            <span className="dim">{formatBytes(file.size)}</span>
            <span className="dim">{formatAgo(file.createdAt)}</span>
          </li>
        ))}
      </ul>
      <p className="more">
        <Link to={pageOf("files")}>All files</Link>
      </p>
    </ListState>
  );
}

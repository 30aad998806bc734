import { useContext } from "react";
import { formatBytes, formatCount, formatMany, formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { WorkspaceContext } from "../../workspace.ts";
import { Accounts } from "./accounts.tsx";
import { Maintenance, type Report } from "./maintenance.tsx";

interface Status {
  version: string;
  node: string;
  startedAt: string;
  publicUrl: string;
  database: string;
  accounts: number;
  projects: number;
  storedBytes: number;
  storage: {
    kind: string;
    problem: string | null;
    freeBytes: number | null;
    totalBytes: number | null;
    damagedObjects: number;
  };
  queues: {
    webhooksWaiting: number;
    webhooksUnderWay: number;
    webhookOldestDueSec: number;
    failingEndpoints: number;
    deletionsWaiting: number;
    openUploads: number;
  };
  maintenance: Report[];
}

/** For the owner of the installation: what the operator's commands tell and do. */
export default function Admin() {
  const workspace = useContext(WorkspaceContext);
  const { data, error, reload } = useLoad<Status>("/admin/status");
  return (
    <>
      <div className="title">
        <h1>Installation</h1>
        <p className="line">
          <Link className="button" to={workspace?.urlOf("admin/audit") ?? "/admin/audit"}>
            Audit log
          </Link>
          <button type="button" onClick={reload}>
            Refresh
          </button>
        </p>
      </div>
      {error !== null && <Failure error={error} retry={reload} />}
      {data === null && error === null && <Loading />}
      {data !== null && <Standing status={data} />}
      <section>
        <h2>Accounts</h2>
        <Accounts />
      </section>
    </>
  );
}

function Standing({ status }: { status: Status }) {
  const { storage, queues } = status;
  return (
    <>
      {storage.problem !== null && (
        <div className="notice bad" role="alert">
          <p>Storage does not respond: {storage.problem}</p>
        </div>
      )}
      {storage.damagedObjects > 0 && (
        <div className="notice bad" role="alert">
          <p>
            {formatMany(storage.damagedObjects, "stored object is", "stored objects are")} damaged and not
            served. Restore the damaged objects from a backup: the next check serves them again.
          </p>
        </div>
      )}
      <div className="panels">
        <section className="panel">
          <h2>Service</h2>
          <dl>
            <Fact name="Version" value={status.version} />
            <Fact name="Node.js" value={status.node} />
            <Fact name="Database" value={status.database === "postgres" ? "PostgreSQL" : "SQLite"} />
            <Fact name="Started" value={formatTime(status.startedAt)} />
            <div className="wide">
              <dt>URL</dt>
              <dd>{status.publicUrl}</dd>
            </div>
          </dl>
        </section>
        <section className="panel">
          <h2>Storage</h2>
          <dl>
            <Fact name="Health" value={storage.problem === null ? "Healthy" : "Not responding"} />
            <Fact name="Type" value={storage.kind === "s3" ? "S3 bucket" : "Disk"} />
            <Fact name="Stored files" value={formatBytes(status.storedBytes)} />
            {storage.freeBytes !== null && storage.totalBytes !== null && (
              <Fact
                name="Space"
                value={`${formatBytes(storage.freeBytes)} free of ${formatBytes(storage.totalBytes)}`}
              />
            )}
            <Fact name="Damaged" value={formatCount(storage.damagedObjects)} />
            <Fact
              name="Used by"
              value={`${formatMany(status.accounts, "account")}, ${formatMany(status.projects, "project")}`}
            />
          </dl>
        </section>
        <section className="panel">
          <h2>Queues</h2>
          <dl>
            <Fact name="Webhooks waiting" value={formatCount(queues.webhooksWaiting)} />
            <Fact name="Webhooks in progress" value={formatCount(queues.webhooksUnderWay)} />
            <Fact name="Oldest overdue webhook" value={`${formatCount(queues.webhookOldestDueSec)} s`} />
            <Fact name="Slow endpoints" value={formatCount(queues.failingEndpoints)} />
            <Fact name="Deletions waiting" value={formatCount(queues.deletionsWaiting)} />
            <Fact name="Open uploads" value={formatCount(queues.openUploads)} />
          </dl>
        </section>
      </div>
      <section>
        <h2>Maintenance</h2>
        <Maintenance reports={status.maintenance} />
      </section>
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

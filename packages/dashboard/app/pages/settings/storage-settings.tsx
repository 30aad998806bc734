import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import { BucketForm } from "./bucket-form.tsx";
import { ProbeReport, type ProbeResult } from "./probe-report.tsx";

/** A customer's own bucket, without its keys. */
export interface Bucket {
  endpoint: string | null;
  region: string;
  bucket: string;
  prefix: string;
  forcePathStyle: boolean;
  updatedAt: string;
}

export function StorageSettings() {
  const { isOwner } = useWorkspace();
  return (
    <>
      <h2>Storage</h2>
      <p className="dim">
        Store new files in your own bucket at any S3-compatible provider. Existing files stay where they are.
        Image variants are not available for files in your bucket.
      </p>
      {isOwner ? <OwnStorage /> : <p className="dim">Only the project owner can change this.</p>}
    </>
  );
}

function OwnStorage() {
  const { project, reloadProjects } = useWorkspace();
  const loaded = useLoad<{ storage: Bucket | null }>(`/projects/${project.id}/storage`);
  const [isEditing, setEditing] = useState(false);
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  const { storage } = loaded.data;
  const done = () => {
    setEditing(false);
    loaded.reload();
    // The response has the bucket that this page must be allowed to send files to.
    reloadProjects();
  };
  return (
    <>
      {storage === null ? (
        <Empty title="Files are stored by this service">
          <button type="button" onClick={() => setEditing(true)}>
            Use your own bucket
          </button>
        </Empty>
      ) : (
        <BucketView
          key={storage.updatedAt}
          storage={storage}
          onEdit={() => setEditing(true)}
          onRemoved={loaded.reload}
        />
      )}
      {isEditing && (
        <Dialog title="Your own bucket" onClose={() => setEditing(false)}>
          <BucketForm known={storage} onSaved={done} />
        </Dialog>
      )}
    </>
  );
}

interface BucketViewProps {
  storage: Bucket;
  onEdit: () => void;
  onRemoved: () => void;
}

function BucketView({ storage, onEdit, onRemoved }: BucketViewProps) {
  const { project } = useWorkspace();
  const [result, setResult] = useState<ProbeResult | null>(null);
  const { error, isBusy, run } = useAction();
  const path = `/projects/${project.id}/storage`;
  const probe = () =>
    run(async () => setResult((await callApi<{ probe: ProbeResult }>("POST", `${path}/probe`)).probe));
  const remove = () =>
    run(async () => {
      await callApi("DELETE", path);
      onRemoved();
    });
  return (
    <>
      <dl>
        <dt>Bucket</dt>
        <dd>
          <SafeText text={storage.bucket} />
        </dd>
        <dt>Endpoint</dt>
        <dd>
          <SafeText text={storage.endpoint ?? "Amazon S3"} />
        </dd>
        <dt>Region</dt>
        <dd>
          <SafeText text={storage.region} />
        </dd>
        <dt>Prefix</dt>
        <dd>
          <SafeText text={storage.prefix === "" ? "none" : storage.prefix} />
        </dd>
        <dt>Set</dt>
        <dd>{formatTime(storage.updatedAt)}</dd>
      </dl>
      {result !== null && <ProbeReport result={result} />}
      {error !== null && <Failure error={error} />}
      <p className="line">
        <button type="button" disabled={isBusy} onClick={() => void probe()}>
          Test bucket
        </button>
        <button type="button" onClick={onEdit}>
          Change
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void remove()}>
          Stop using it
        </button>
      </p>
    </>
  );
}

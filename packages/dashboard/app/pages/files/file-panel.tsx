import type { ImportProgress, ScanState } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { chevronDownIcon, chevronUpIcon, downloadIcon, externalLinkIcon, trashIcon } from "@upstow/kit/icons";
import { useEffect, useEffectEvent, useState } from "react";
import { ApiError } from "../../api.ts";
import { formatBytes, formatDeadline, formatMany, formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { downloadFile } from "./download.ts";
import { FileAccess } from "./file-access.tsx";
import { FilePreview, type Measures } from "./file-preview.tsx";
import { StatusTag } from "./file-row-parts.tsx";
import { FileTimeline } from "./file-timeline.tsx";
import { FileVariants } from "./file-variants.tsx";
import { type FoundFile, routeOf } from "./found-file.ts";
import { MetadataEditor } from "./metadata-editor.tsx";

/** How often to check a file that the service is importing. */
const lookEveryMs = 3_000;

interface Found {
  file: FoundFile;
  link: string | null;
  /** Of a file that the service is fetching from a URL. */
  progress: ImportProgress | null;
}

interface FilePanelProps {
  /** From the URL. */
  id: string;
  /** The list, which may not contain it. */
  files: FoundFile[];
  onOpen: (file: FoundFile) => void;
  /** The list may be out of date. */
  onLoaded: (file: FoundFile) => void;
  onClose: () => void;
  onDelete: () => void;
}

/** One file next to the list, at a URL that can be shared. */
export function FilePanel({ id, files, onOpen, onClose, ...props }: FilePanelProps) {
  const { api } = useWorkspace();
  const loaded = useLoad<Found>(`${api}/search/file?key=${id}`);
  const progress = loaded.data?.progress ?? null;
  const index = files.findIndex((one) => one.id === id);
  const newest = loaded.data?.file;
  // The list looks again for a thumbnail that is due.
  const file = newest?.isThumbnailDue ? (files[index] ?? newest) : (newest ?? files[index]);
  const showInList = useEffectEvent(props.onLoaded);
  useEffect(() => {
    if (loaded.data !== null) showInList(loaded.data.file);
  }, [loaded.data]);
  const { reload } = loaded;
  const isFetching = progress !== null;
  useEffect(() => {
    if (!isFetching) return;
    const looking = setInterval(reload, lookEveryMs);
    return () => clearInterval(looking);
  }, [isFetching, reload]);
  const step = (label: string, icon: string, to: FoundFile | undefined) => (
    <button
      type="button"
      className="quiet square"
      aria-label={label}
      // A disabled button would lose the focus at the end of the list.
      aria-disabled={to === undefined}
      onClick={() => to !== undefined && onOpen(to)}
    >
      <Icon of={icon} />
    </button>
  );
  return (
    <Dialog
      title={file?.name ?? "File"}
      sheet
      onClose={onClose}
      tools={
        <>
          {step("Previous file", chevronUpIcon, files[index - 1])}
          {step("Next file", chevronDownIcon, index === -1 ? undefined : files[index + 1])}
        </>
      }
    >
      {file === undefined ? (
        <div className="sheet-body">
          {loaded.error === null ? (
            <Loading />
          ) : loaded.error instanceof ApiError && loaded.error.status === 404 ? (
            <Missing />
          ) : (
            <Failure error={loaded.error} retry={loaded.reload} />
          )}
        </div>
      ) : (
        <Details
          key={file.id}
          file={file}
          progress={progress}
          // The one before may just have been revoked.
          link={loaded.isLoading ? null : (loaded.data?.link ?? null)}
          error={loaded.error}
          onChanged={loaded.reload}
          onDelete={props.onDelete}
        />
      )}
    </Dialog>
  );
}

function Missing() {
  const { environment, urlOf } = useWorkspace();
  return (
    <Empty title="File not found">
      <p>It was deleted, has expired, or is not a {environment} file of this project.</p>
      <Link className="button" to={urlOf("trash")}>
        Check the trash
      </Link>
    </Empty>
  );
}

interface DetailsProps {
  file: FoundFile;
  progress: ImportProgress | null;
  link: string | null;
  error: unknown;
  onChanged: () => void;
  onDelete: () => void;
}

function Details({ file, progress, link, error, onChanged, onDelete }: DetailsProps) {
  const { environment } = useWorkspace();
  const [measures, setMeasures] = useState<Measures | null>(null);
  const url = link ?? file.contentUrl;
  return (
    <>
      <div className="sheet-body">
        {url !== null && <FilePreview key={url} file={file} url={url} onMeasured={setMeasures} />}
        {url === null && error !== null && <Failure error={error} retry={onChanged} />}
        {progress !== null && <Fetching {...progress} />}
        <Facts file={file} measures={measures} />
        <FileAccess file={file} onChanged={onChanged} />
        <MetadataEditor fileKey={file.key} />
        {file.thumbnailUrl !== null && environment === "live" && <FileVariants fileKey={file.key} />}
        <FileTimeline key={file.status} file={file} />
      </div>
      <Actions file={file} link={link} hasContent={url !== null} onDelete={onDelete} />
    </>
  );
}

interface ActionsProps {
  file: FoundFile;
  link: string | null;
  hasContent: boolean;
  onDelete: () => void;
}

function Actions({ file, link, hasContent, onDelete }: ActionsProps) {
  const { api, mayChange } = useWorkspace();
  const { error, isBusy, run } = useAction();
  const isStored = file.status === "UPLOADED" && file.scan !== "pending";
  return (
    <footer className="sheet-actions">
      {error !== null && <Failure error={error} />}
      {file.access === "public" && <CopyButton text={file.url} label="Copy URL" />}
      {link !== null && <CopyButton text={link} label="Copy temporary link" />}
      {isStored && hasContent && (
        <a className="button" href={link ?? file.url} target="_blank" rel="noopener noreferrer">
          <Icon of={externalLinkIcon} /> Open
        </a>
      )}
      {isStored && mayChange && (
        <button type="button" disabled={isBusy} onClick={() => void run(() => downloadFile(api, file.key))}>
          <Icon of={downloadIcon} /> Download
        </button>
      )}
      {mayChange && (
        <button type="button" className="danger" onClick={onDelete}>
          <Icon of={trashIcon} /> Delete
        </button>
      )}
    </footer>
  );
}

const scanLabels: Record<ScanState, string> = {
  pending: "Waiting for scan. Not readable yet.",
  clean: "Clean",
  infected: "Infected",
  unscanned: "Not scanned: too large for the scanner",
};

/** Without a value while the source has not said the size. */
function Fetching({ receivedBytes, totalBytes }: ImportProgress) {
  const total = totalBytes === null ? "" : ` of ${formatBytes(totalBytes)}`;
  const share = totalBytes === null || totalBytes === 0 ? {} : { value: receivedBytes / totalBytes };
  return (
    <div className="stack" role="status">
      <progress aria-label="Progress" max={1} {...share} />
      <p>{`Fetched ${formatBytes(receivedBytes)}${total}`}</p>
    </div>
  );
}

function Facts({ file, measures }: { file: FoundFile; measures: Measures | null }) {
  return (
    <dl>
      <dt>Status</dt>
      <dd>
        <StatusTag {...file} />
      </dd>
      {file.scan !== null && (
        <>
          <dt>Virus scan</dt>
          <dd>{scanLabels[file.scan]}</dd>
        </>
      )}
      <dt>Key</dt>
      <dd className="with-copy">
        <span className="mono">
          <SafeText text={file.key} />
        </span>
        <CopyButton text={file.key} label="Copy key" isIcon />
      </dd>
      <dt>Route</dt>
      <dd>
        <SafeText text={routeOf(file)} />
      </dd>
      <dt>Type</dt>
      <dd>
        <SafeText text={file.type} />
      </dd>
      <dt>Size</dt>
      <dd>
        {formatBytes(file.size)} ({formatMany(file.size, "byte")})
      </dd>
      {measures !== null && (
        <>
          <dt>Dimensions</dt>
          <dd>
            {measures.width} × {measures.height} pixels
          </dd>
        </>
      )}
      <dt>Created</dt>
      <dd>{formatTime(file.createdAt)}</dd>
      {file.expiresAt !== null && (
        <>
          <dt>Expires</dt>
          <dd>{formatDeadline(file.expiresAt)}</dd>
        </>
      )}
      {file.claimBy !== null && (
        <>
          <dt>Claim by</dt>
          <dd>{formatDeadline(file.claimBy)}</dd>
        </>
      )}
      {file.sha256 !== null && (
        <>
          <dt>SHA-256</dt>
          <dd className="mono">{file.sha256}</dd>
        </>
      )}
    </dl>
  );
}

import type { Router } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { chevronRightIcon, folderIcon } from "@upstow/kit/icons";
import { useState } from "react";
import { formatBytes, formatCount, formatMany } from "../../format.ts";
import type { Loaded } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

export interface Folder {
  slug: string;
  files: number;
  bytes: number;
}

export interface Folders {
  folders: Folder[];
  /** False where only the newest files were counted. */
  isWhole: boolean;
}

/** More would push the files off the screen. */
const mostShown = 8;

interface FolderListProps {
  routes: Router[];
  /** Also of routes that have been deleted since. */
  tally: Loaded<Folders>;
  urlOf: (slug: string) => string;
}

/** Routes are the first part of every key, so each is a folder. */
export function FolderList({ routes, tally, urlOf }: FolderListProps) {
  const [showsAll, setShowsAll] = useState(false);
  const counted = new Map(tally.data?.folders.map((folder) => [folder.slug, folder]));
  const slugs = [...new Set([...routes.map(({ slug }) => slug), ...counted.keys()])].sort();
  if (slugs.length < 2) return null;
  const shown = showsAll ? slugs : slugs.slice(0, mostShown);
  return (
    <nav aria-label="Folders" className="folders">
      {shown.map((slug) => (
        <Link key={slug} className="folder" to={urlOf(slug)}>
          <Icon of={folderIcon} />
          <span className="folder-text">
            <span className="cut">
              <SafeText text={slug} />
            </span>
            <small className="cut dim">
              {tally.data === null
                ? "\u00a0"
                : describe(counted.get(slug) ?? { slug, files: 0, bytes: 0 }, tally.data.isWhole)}
            </small>
          </span>
        </Link>
      ))}
      {shown.length < slugs.length && (
        <button type="button" className="folder" onClick={() => setShowsAll(true)}>
          Show all {formatCount(slugs.length)} folders
        </button>
      )}
    </nav>
  );
}

function describe({ files, bytes }: Folder, isWhole: boolean): string {
  if (files === 0) return isWhole ? "Empty" : "Older files only";
  return isWhole
    ? `${formatMany(files, "file")} · ${formatBytes(bytes)}`
    : `${formatCount(files)}+ files · ${formatBytes(bytes)}+`;
}

interface BreadcrumbsProps {
  /** The folder that is open; empty for all files. */
  slug: string;
  tally: Loaded<Folders>;
  rootUrl: string;
}

/** The page's heading: in a folder with the way back, and what the folder contains. */
export function Breadcrumbs({ slug, tally, rootUrl }: BreadcrumbsProps) {
  const { environment } = useWorkspace();
  const mark = environment === "test" && <span className="tag test">Test</span>;
  if (slug === "")
    return (
      <div className="breadcrumbs">
        <h1>Files</h1>
        {mark}
      </div>
    );
  const folder = tally.data?.folders.find((one) => one.slug === slug);
  return (
    <div className="breadcrumbs">
      <nav aria-label="Breadcrumbs">
        <Link to={rootUrl}>Files</Link>
        <Icon of={chevronRightIcon} />
      </nav>
      <h1 className="cut">
        <SafeText text={slug} />
      </h1>
      {mark}
      {tally.data !== null && folder !== undefined && (
        <small className="dim">{describe(folder, tally.data.isWhole)}</small>
      )}
    </div>
  );
}

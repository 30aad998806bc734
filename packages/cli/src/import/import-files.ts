import type { Metadata, Upstow } from "@upstow/sdk";
import type { Call } from "../command.ts";
import { explainError } from "../explain-error.ts";
import { clean, countFiles } from "../format.ts";
import type { LocalFile } from "../upload/collect-files.ts";
import { fewAtOnce } from "../upload/few-at-once.ts";
import { createProgressBars } from "../upload/progress-bars.ts";
import type { UnfinishedUploads } from "../upload/unfinished-uploads.ts";
import { uploadFiles } from "../upload/upload-files.ts";
import { type ImportSource, isLeftOut, type LeftOutEntry, type SourceEntry } from "./source.ts";

export interface Imported {
  /** The id in the source. */
  source: string;
  id: string;
  key: string;
  url: string;
}

export interface Failure {
  source: string;
  code: string;
  message: string;
}

export interface Plan {
  /** Stored by an earlier run. */
  before: Imported[];
  entries: SourceEntry[];
  leftOut: LeftOutEntry[];
}

/** All entries, and those still to import. Asks the service, so the import can continue on any machine. */
export async function planImport(
  call: Pick<Call, "progress">,
  upstow: Upstow,
  source: ImportSource,
): Promise<Plan> {
  const stored = await findStored(call, upstow, source.label);
  const plan: Plan = { before: [], entries: [], leftOut: [] };
  for await (const entry of source.list()) {
    const found = isLeftOut(entry) ? undefined : stored.get(nameVersion(entry.id, entry.version));
    if (isLeftOut(entry)) plan.leftOut.push(entry);
    else if (found === undefined) plan.entries.push(entry);
    else plan.before.push(found);
    const count = plan.entries.length + plan.before.length;
    if (count % drawEvery === 0) call.progress(`Listing ${source.label}: ${countFiles(count)}`);
  }
  return plan;
}

const drawEvery = 100;

const nameVersion = (id: unknown, version: unknown) => JSON.stringify([id, version]);

async function findStored({ progress }: Pick<Call, "progress">, upstow: Upstow, label: string) {
  const stored = new Map<string, Imported>();
  const query = {
    status: "UPLOADED",
    metadata: { importedFrom: label },
    include: "metadata",
    limit: 100,
  } as const;
  for await (const { id, key, url, metadata } of upstow.files.list(query)) {
    const { importedId, importedVersion } = metadata;
    stored.set(nameVersion(importedId, importedVersion), { source: String(importedId), id, key, url });
    if (stored.size % drawEvery === 0) progress(`Looking for files imported before: ${stored.size}`);
  }
  return stored;
}

export interface ImportJob {
  call: Pick<Call, "note" | "progress">;
  upstow: Upstow;
  source: ImportSource;
  entries: SourceEntry[];
  routeSlug: string;
  metadata: Metadata;
  unfinished: UnfinishedUploads;
}

/** The API's batch size. */
const roundFiles = 100;
const longestName = 255;

/** A file that fails does not stop the others. */
export async function importFiles(job: ImportJob): Promise<{ imported: Imported[]; failures: Failure[] }> {
  const { call, source, entries } = job;
  const imported: Imported[] = [];
  const failures: Failure[] = [];
  const bytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  const bars = createProgressBars({ files: entries.length, bytes }, call.progress);
  const fail = (id: string, error: unknown) => {
    const { code, message } = explainError(error);
    failures.push({ source: id, code, message });
    call.note(`✖ ${clean(id)}  ${message}`);
  };
  for (let start = 0; start < entries.length; start += roundFiles) {
    const round = new Map<LocalFile, SourceEntry>();
    const importedBefore = imported.length;
    await fewAtOnce(entries.slice(start, start + roundFiles), async (entry) => {
      try {
        const type = entry.type ?? (await source.findType?.(entry));
        round.set(toFile(entry), { ...entry, type });
      } catch (error) {
        fail(entry.id, error);
      }
    });
    const entryOf = (file: LocalFile) => round.get(file) as SourceEntry;
    await uploadFiles({
      upstow: job.upstow,
      files: [...round.keys()],
      unfinished: job.unfinished,
      bars,
      prepare(file) {
        const entry = entryOf(file);
        return {
          source: source.read(entry),
          options: {
            routeSlug: job.routeSlug,
            size: entry.sizeBytes,
            ...(entry.type === undefined ? {} : { type: entry.type }),
            metadata: {
              ...entry.metadata,
              ...job.metadata,
              importedFrom: source.label,
              importedId: entry.id,
              importedVersion: entry.version,
            },
          },
        };
      },
      onDone(file, { id, key, url }) {
        imported.push({ source: entryOf(file).id, id, key, url });
        call.note(`✔ ${clean(entryOf(file).id)}  ${url}`);
      },
      onFailed: (file, error) => fail(entryOf(file).id, error),
    });
    const isHopeless = imported.length === importedBefore && start + roundFiles < entries.length;
    if (isHopeless) {
      call.note(`Stopped: ${roundFiles} files in a row failed, so the cause is probably not the files.`);
      break;
    }
  }
  return { imported, failures };
}

function toFile({ id, name, sizeBytes, version }: SourceEntry): LocalFile {
  // Some sources allow longer names than the service; the full path is kept in the metadata.
  const short = [...name].length <= longestName ? name : (name.split("/").at(-1) ?? name);
  return {
    path: `${id} ${version}`,
    name: [...short].slice(-longestName).join(""),
    sizeBytes,
    modifiedMs: 0,
  };
}

import { hash } from "node:crypto";
import {
  canStrip,
  MB,
  type MetadataStrip,
  STRIP_HEAD_BYTES,
  STRIP_MAX_BYTES,
  STRIPS_AT_ONCE,
  stripMetadata,
} from "@upstow/contract";
import { inTurn } from "../../db/job-leases.ts";
import { createLanes } from "../../db/lanes.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { ObjectStore, StoredObject } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { readStretch } from "./check-content.ts";

export type Stripped = { object: StoredObject } | "gone" | "too-large";

type Running = Map<string, Promise<Stripped>>;
type StripDeps = Pick<Deps, "db" | "store" | "stores">;

const runningOf = new WeakMap<Deps["stores"], Running>();
/** Customers' buckets may hang, so their pictures have places of their own, and each bucket takes one at a time. */
const places = createPlaces();
const customerPlaces = createPlaces();
const oneAtATime = createLanes<() => Promise<Stripped>, Stripped>(
  (works) => Promise.all(works.map((work) => work())),
  () => 1,
);
/** A picture is written once, unless it was uploaded again meanwhile. */
const mostLooks = 3;

/**
 * Overwrites metadata in a picture whose bytes are final but not confirmed. It keeps its size, so the upload can be
 * completed again after a crash on either side of the write. Calls at the same time share the work.
 */
export function stripStored(
  deps: StripDeps,
  file: FileRow,
  strip: MetadataStrip,
  object: StoredObject,
): Promise<Stripped> {
  const running: Running = runningOf.get(deps.stores) ?? new Map();
  runningOf.set(deps.stores, running);
  const name = `${file.store} ${objectKey(file)} ${object.etag}`;
  const joined =
    running.get(name) ?? stripFound(deps, file, strip, object).finally(() => running.delete(name));
  running.set(name, joined);
  return joined;
}

/** Bytes written since by another call or instance are inspected too, and found to be stripped already. */
async function stripFound(
  deps: StripDeps,
  file: FileRow,
  strip: MetadataStrip,
  object: StoredObject,
): Promise<Stripped> {
  const store = await deps.stores.get(file.store);
  let found = object;
  for (let look = 0; look < mostLooks; look++) {
    const stripped = await stripOnce(deps, store, file, strip, found);
    if (stripped !== "gone") return stripped;
    const latest = await store.head(objectKey(file));
    if (latest === null || latest.sizeBytes !== file.size_bytes || latest.etag === found.etag) return "gone";
    found = latest;
  }
  return "gone";
}

async function stripOnce(
  deps: StripDeps,
  store: ObjectStore,
  file: FileRow,
  strip: MetadataStrip,
  object: StoredObject,
): Promise<Stripped> {
  const key = objectKey(file);
  const read = (length: number) => readStretch(store, key, object.etag, { start: 0, length });
  const { sizeBytes } = object;
  const head = await read(Math.min(STRIP_HEAD_BYTES, sizeBytes));
  if (head === null) return "gone";
  if (!canStrip(head)) return { object };
  if (sizeBytes > STRIP_MAX_BYTES) return "too-large";
  const rewrite = async (): Promise<Stripped> => {
    const found = await read(sizeBytes);
    if (found === null) return "gone";
    // The store may keep what it gave out.
    const bytes = Buffer.from(found);
    if (!stripMetadata(bytes, strip)) return { object };
    return { object: await store.write(key, bytes, { contentType: file.type }) };
  };
  const isOwn = file.store === deps.store.name;
  // Some buckets give each write another etag, so only one instance may write what will be confirmed.
  const turn = isOwn ? turnOf(key) : `strip-${file.store}`;
  const write = () => (object.sha256 === null ? inTurn(deps.db, turn, rewrite) : rewrite());
  return isOwn ? places.use(write) : oneAtATime(file.store, () => customerPlaces.use(write));
}

interface Places {
  use<T>(work: () => Promise<T>): Promise<T>;
}

function createPlaces(): Places {
  let free = STRIPS_AT_ONCE;
  const waiting: (() => void)[] = [];
  return {
    async use(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}

/** One of 256, so that there are not as many rows as files. Few at a time share one by chance. */
const turnOf = (key: string) => `strip-${hash("sha256", key, "buffer").readUInt8()}`;

export const tooLargeToStrip = (routeSlug: string) =>
  new AppError(
    "CONTENT_MISMATCH",
    `The picture is over ${STRIP_MAX_BYTES / MB} MB, and the file route "${routeSlug}" strips metadata.`,
    {
      suggestion: "Nothing was stored. Upload a smaller picture, or use a route whose stripMetadata is off.",
    },
  );

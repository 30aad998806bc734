import {
  canStrip,
  MB,
  type MetadataStrip,
  STRIP_HEAD_BYTES,
  STRIP_MAX_BYTES,
  STRIPS_AT_ONCE,
  stripMetadata,
} from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import type { StoredObject } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { readStretch } from "./read-stretch.ts";

export type Stripped = { object: StoredObject } | "gone" | "too-large";

const running = new Map<string, Promise<Stripped>>();
let atWork = 0;
const waiting: (() => void)[] = [];

/**
 * Overwrites metadata in a picture whose bytes are final but not confirmed. It keeps its size, so the upload can be
 * completed again after a crash on either side of the write. Calls at the same time share the work.
 */
export function stripStored(
  deps: Pick<Deps, "stores">,
  file: FileRow,
  strip: MetadataStrip,
  object: StoredObject,
): Promise<Stripped> {
  const name = `${file.store} ${objectKey(file)} ${object.etag}`;
  const joined =
    running.get(name) ?? stripOnce(deps, file, strip, object).finally(() => running.delete(name));
  running.set(name, joined);
  return joined;
}

async function stripOnce(
  { stores }: Pick<Deps, "stores">,
  file: FileRow,
  strip: MetadataStrip,
  object: StoredObject,
): Promise<Stripped> {
  const store = await stores.get(file.store);
  const key = objectKey(file);
  const read = (length: number) => readStretch(store, key, object.etag, { start: 0, length });
  const { sizeBytes } = object;
  const head = await read(Math.min(STRIP_HEAD_BYTES, sizeBytes));
  if (head === null) return "gone";
  if (!canStrip(head)) return { object };
  if (sizeBytes > STRIP_MAX_BYTES) return "too-large";
  if (atWork >= STRIPS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  atWork++;
  try {
    const found = await read(sizeBytes);
    if (found === null) return "gone";
    // The store may keep what it gave out.
    const bytes = Buffer.from(found);
    if (!stripMetadata(bytes, strip)) return { object };
    return { object: await store.write(key, bytes, { contentType: file.type }) };
  } finally {
    atWork--;
    waiting.shift()?.();
  }
}

export const tooLargeToStrip = (routeSlug: string) =>
  new AppError(
    "CONTENT_MISMATCH",
    `The picture is over ${STRIP_MAX_BYTES / MB} MB, and the file route "${routeSlug}" strips metadata.`,
    { suggestion: "Nothing was kept. Upload a smaller picture, or to a route whose stripMetadata is off." },
  );

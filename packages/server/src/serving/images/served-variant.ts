import type { VariantTable } from "../../db/schema.ts";
import { isPurgeable, type ServedFile } from "../queries.ts";
import type { ServedObject } from "../send-object.ts";

const kept = new WeakMap<VariantTable, { file: ServedFile; object: ServedObject }>();

/**
 * A variant as delivery sends it: the same object for the same rows, which the database may hand out again and again.
 * An address that expires, or whose format depends on who asks, has other headers and is put together each time.
 */
export function toServed(file: ServedFile, variant: VariantTable, isPlainAddress: boolean): ServedObject {
  if (!isPlainAddress) return createServed(file, variant, false);
  const known = kept.get(variant);
  if (known?.file === file) return known.object;
  const object = createServed(file, variant, true);
  kept.set(variant, { file, object });
  return object;
}

function createServed(file: ServedFile, variant: VariantTable, isPlainAddress: boolean): ServedObject {
  return {
    fileId: file.id,
    isLasting: isPlainAddress,
    mayBeShared: isPlainAddress && isPurgeable(file),
    store: variant.store,
    storeKey: variant.store_key,
    sizeBytes: variant.size_bytes ?? 0,
    etag: variant.etag ?? "",
    modifiedMs: variant.ready_at ?? 0,
    contentType: variant.content_type ?? "application/octet-stream",
    fileName: variantName(file.name, variant.content_type),
    projectId: file.project_id,
    environment: file.environment,
  };
}

/** "photo.png" delivered as WebP is saved as "photo.webp". */
function variantName(fileName: string, contentType: string | null): string {
  const extension = (contentType ?? "").replace("image/", "").replace("jpeg", "jpg");
  return `${fileName.replace(/\.[^.]*$/, "")}.${extension}`;
}

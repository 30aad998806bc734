import type { Deps } from "../deps.ts";
import { contentDisposition } from "./content-disposition.ts";
import { servedType, typePolicy } from "./safe-type.ts";

// A deletion is to hold at once: what was handed out before it must not live much longer.
const expiresInSec = 60;

/** Where the bucket itself serves the object; null where the service is to send it. */
export function findRedirect(
  { config, store }: Pick<Deps, "config" | "store">,
  object: { storeKey: string; contentType: string; fileName: string },
): string | null {
  if (config.s3?.delivery !== "redirect") return null;
  const { disposition } = typePolicy(object.contentType);
  const headers = {
    contentType: servedType(object.contentType),
    contentDisposition: contentDisposition(disposition, object.fileName),
  };
  return store.presignGet?.(object.storeKey, { ...headers, expiresInSec }) ?? null;
}

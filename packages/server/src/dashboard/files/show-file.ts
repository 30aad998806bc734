import type { FileListItem, ImageFacts } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { isImageType, readImageFacts } from "../../files/image-facts.ts";
import { isReadable } from "../../files/life.ts";
import type { FoundFile as FoundRow } from "../../files/search/queries.ts";
import { toListItem } from "../../files/serialize.ts";
import type { Actor } from "../../kernel/actor.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { maxPixels } from "../../serving/images/render/render-job.ts";
import { signUrl } from "../../serving/images/transform-image.ts";
import type { VariantSigner } from "../../serving/images/variant-signature.ts";
import { findRevocationMark } from "../../serving/links/queries.ts";

/** A file as the dashboard shows it. */
interface FoundFile extends FileListItem {
  /**
   * On the installation's own URL, which the pages may read whatever the project's domain is. Null for a private file,
   * which needs a link.
   */
  contentUrl: string | null;
  /** Not of an image that is known to be damaged or too large, so that no page asks for a thumbnail in vain. */
  thumbnailUrl: string | null;
  /** Whether it may still get a thumbnail, because it is about to be read. */
  isThumbnailDue: boolean;
  /** The ThumbHash of an image, in the thumbnail's place until that has loaded. */
  placeholder: string | null;
}

const thumbnail = { width: 320, height: 320, fit: "cover", quality: 75, format: "webp" } as const;

/**
 * The thumbnail's recipe is fixed and no other can be requested, so it is free. Files in a customer's own bucket are
 * never transformed.
 */
export async function showFile(
  deps: Deps,
  signer: VariantSigner,
  actor: Actor,
  row: FoundRow,
): Promise<FoundFile> {
  const { config, imageTypes, store } = deps;
  const facts = readImageFacts(row);
  const isOurs = isReadable(row) && row.store === store.name && isImageType(row.type, imageTypes);
  return {
    ...toListItem(cdnFor(config, actor), row),
    contentUrl: row.access === "private" || !isReadable(row) ? null : fileUrl(config, row.key),
    thumbnailUrl: isOurs && isRenderable(row, facts) ? await signThumbnail(deps, signer, row) : null,
    isThumbnailDue: isOurs && row.facts_due_at !== null,
    placeholder: facts?.thumbhash ?? null,
  };
}

async function signThumbnail(deps: Deps, signer: VariantSigner, file: FoundRow): Promise<string> {
  const mark = await findRevocationMark(deps, file);
  const wanted = { now: deps.now(), file, recipe: thumbnail, delivery: "signed", mark } as const;
  return signUrl(deps.config, signer, wanted).url;
}

/**
 * Facts come from the first frame alone; a thumbnail needs all of them. An image that is never going to be read was
 * uploaded before there were facts.
 */
function isRenderable({ image, facts_due_at: dueAt }: FoundRow, facts: ImageFacts | null): boolean {
  if (facts === null) return image === null && dueAt === null;
  const { width, height, frames } = facts;
  return Math.max(width * height, thumbnail.width * thumbnail.height) * frames <= maxPixels;
}

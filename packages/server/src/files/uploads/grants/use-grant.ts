import type { Queryable } from "../../../db/database.ts";
import type { Deps } from "../../../deps.ts";
import type { Actor } from "../../../kernel/actor.ts";
import { AppError, unauthorized } from "../../../kernel/errors.ts";
import { isAllowedType, mediaType } from "../media-type.ts";
import { uploadGrantTokens } from "./create-grant.ts";
import { type FoundUploadGrant, findUploadGrant, takePlace } from "./queries.ts";

type Grant = Readonly<FoundUploadGrant>;

const askAgain = "Ask whoever gave you the grant for a new one.";

/** The holder can do nothing but upload within the grant's limits. Throws 401 unless the token is genuine and its key still counts. Expiry and places are for `checkOpen`. */
export async function getHeldGrant(deps: Deps, token: string): Promise<{ actor: Actor; grant: Grant }> {
  const id = uploadGrantTokens(deps).read(token);
  const grant = id === null ? null : await deps.db.recall(findUploadGrant, { id });
  if (grant === null)
    throw unauthorized("the upload grant is unknown, or was revoked together with its key", askAgain);
  return { actor: toActor(grant), grant };
}

/** Throws 403 once nothing more can be uploaded under the grant. `takePlaceOf` has the last word. */
export function checkOpen(grant: Grant, now: number): void {
  if (now >= grant.expires_at) throw ended("has expired");
  if (grant.taken_files >= grant.max_files) throw usedUp(grant);
}

/** Part of the transaction that opens the upload, so that a rejected one takes no place. */
export async function takePlaceOf(tx: Queryable, grant: Grant, now: number): Promise<void> {
  if ((await tx.run(takePlace, { id: grant.id, now })) > 0) return;
  throw now >= grant.expires_at ? ended("has expired") : usedUp(grant);
}

/** The route's own types are checked as well: they may have changed since. */
export function checkGrantedType(grant: Grant, contentType: string): void {
  const types: string[] = JSON.parse(grant.allowed_types ?? "[]");
  if (isAllowedType(types, contentType)) return;
  throw new AppError("INVALID_FILE_TYPE", `The upload grant does not accept ${mediaType(contentType)}.`, {
    suggestion: `Accepted: ${types.join(", ")}.`,
  });
}

const usedUp = ({ max_files }: Grant) =>
  ended(`is used up: ${max_files === 1 ? "its file was" : `all of its ${max_files} files were`} uploaded`);

const ended = (what: string) =>
  new AppError("FORBIDDEN", `The upload grant ${what}.`, { suggestion: askAgain });

function toActor(grant: Grant): Actor {
  return {
    keyId: grant.key_id ?? `grant:${grant.id}`,
    name: "upload grant",
    projectId: grant.project_id,
    accountId: grant.accountId,
    environment: grant.environment,
    storeName: grant.storeName,
    cdnUrl: grant.cdnUrl,
    tier: grant.tier,
    rateUpload: grant.rateUpload,
    rateTransform: grant.rateTransform,
    rateOther: grant.rateOther,
    transformUnits: grant.transformUnits,
  };
}

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { type CreateUploadGrantBody, UPLOAD_GRANT_SEC, type UploadGrant } from "@upstow/contract";
import type { Queryable } from "../../../db/database.ts";
import { inSteps } from "../../../db/job-leases.ts";
import type { FileRouteRow, UploadGrantRow } from "../../../db/schema.ts";
import type { Deps } from "../../../deps.ts";
import type { Actor } from "../../../kernel/actor.ts";
import { AppError, type DeadLink, invalid, notFound } from "../../../kernel/errors.ts";
import { createId, isId } from "../../../kernel/ids.ts";
import { isoTime } from "../../../kernel/iso-time.ts";
import type { Keyring } from "../../../kernel/security/keyring.ts";
import { recordUnlessKey } from "../../../projects/audit/record.ts";
import { findRoute, requireServes } from "../../../projects/file-routes/find-route.ts";
import { writeLog } from "../../../projects/logs/queries.ts";
import { isAllowedType, mediaType } from "../media-type.ts";
import { accessFor, serialiseMetadata } from "../rules.ts";
import {
  deleteEndedGrants,
  type FoundUploadGrant,
  findUploadGrant,
  insertUploadGrant,
  takePlace,
} from "./queries.ts";

/** The stored part of a grant, for a repeated call. */
export type GivenGrant = Pick<UploadGrantRow, "id" | "expires_at">;

type OnSaved = (tx: Queryable, grant: GivenGrant) => Promise<void>;

export async function createUploadGrant(
  deps: Deps,
  actor: Actor,
  body: CreateUploadGrantBody,
  onSaved: OnSaved,
): Promise<GivenGrant> {
  const metadata = serialiseMetadata(body.metadata ?? {});
  const route = await findRoute(deps.db, actor.projectId, body.routeSlug);
  if (route === null) throw notFound(`File route "${body.routeSlug}"`);
  requireServes(route, actor.environment);
  if (body.access !== undefined) accessFor(route, body.access);
  checkTypes(route, body.allowedTypes ?? []);
  const now = deps.now();
  const { projectId, environment } = actor;
  const grant: UploadGrantRow = {
    id: createId(now),
    project_id: projectId,
    environment,
    key_id: deps.author.kind === "key" ? actor.keyId : null,
    route_id: route.id,
    max_files: body.maxFiles ?? 1,
    taken_files: 0,
    refused_files: 0,
    max_file_size_bytes: body.maxFileSize ?? null,
    allowed_types: body.allowedTypes === undefined ? null : JSON.stringify(body.allowedTypes),
    metadata,
    access: body.access ?? null,
    audience: body.audience ?? null,
    created_at: now,
    expires_at: now + (body.expiresIn ?? UPLOAD_GRANT_SEC) * 1000,
  };
  const shown = {
    kind: "upload",
    value: route.slug,
    expiresAt: isoTime(grant.expires_at),
  };
  await deps.db.transact(async (tx) => {
    await tx.run(insertUploadGrant, grant);
    await writeLog(tx, now, {
      projectId,
      environment,
      type: "grant.created",
      message: `A grant to upload to the file route "${route.slug}" was created.`,
      data: { ...shown, maxFiles: grant.max_files },
    });
    await recordUnlessKey(tx, now, deps.author, {
      action: "grant.created",
      target: { kind: "environment", id: environment },
      projectId,
      after: shown,
    });
    await onSaved(tx, { id: grant.id, expires_at: grant.expires_at });
  });
  return grant;
}

/** A grant narrows what its route accepts. */
function checkTypes(route: FileRouteRow, types: string[]): void {
  const accepted: string[] = JSON.parse(route.allowed_types);
  const foreign = types.find((type) => !isAllowedType(accepted, type));
  if (foreign === undefined) return;
  throw invalid(
    "allowedTypes",
    `contains ${foreign}, which the file route "${route.slug}" does not accept`,
    `Accepted: ${accepted.join(", ")}.`,
  );
}

/** The same token each time, so that a repeated call gets the first one's. */
export function showGrant(deps: Pick<Deps, "keyring">, given: GivenGrant): UploadGrant {
  return { token: uploadGrantTokens(deps).sign(given.id), expiresAt: isoTime(given.expires_at) };
}

const uploadGrantTokens = ({ keyring }: Pick<Deps, "keyring">) =>
  createSignedIds(keyring, "upload grant", "upg_");

/** For as long as its holder should hear that it has ended, not that it never was. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

export const forgetEndedGrants = ({ db, now }: Deps, signal: AbortSignal): Promise<void> =>
  inSteps((take) => db.run(deleteEndedGrants, { before: now() - keptMs, take }), signal);

type Grant = Readonly<FoundUploadGrant>;

const askAgain = "Request a new grant from the site that issued this one.";

/**
 * The holder can do nothing but upload within the grant's limits. Throws 401 unless the token is genuine and its key
 * still counts. Expiry and places are for `checkOpen`.
 */
export async function getHeldGrant(deps: Deps, token: string): Promise<{ actor: Actor; grant: Grant }> {
  const id = uploadGrantTokens(deps).read(token);
  const grant = id === null ? null : await deps.db.recall(findUploadGrant, { id });
  if (grant === null) throw unknown();
  return { actor: toActor(grant), grant };
}

/** For uploads that take long: throws 401 if the grant's key was revoked or its project deleted meanwhile. */
export async function checkHeld({ db }: Pick<Deps, "db">, { id }: Grant): Promise<void> {
  if ((await db.get(findUploadGrant, { id })) === null) throw unknown();
}

/** Throws 403 once nothing more can be uploaded under the grant. `takePlaceOf` has the last word. */
export function checkOpen(grant: Grant, now: number): void {
  if (now >= grant.expires_at) throw expired();
  if (grant.taken_files >= grant.max_files) throw usedUp(grant);
}

/** Part of the transaction that opens the upload, so that a rejected one takes no place. */
export async function takePlaceOf(tx: Queryable, grant: Grant, now: number): Promise<void> {
  if ((await tx.run(takePlace, { id: grant.id, now })) > 0) return;
  throw now >= grant.expires_at ? expired() : usedUp(grant);
}

/** The route's own types are checked as well: they may have changed since. */
export function checkGrantedType(grant: Grant, contentType: string): void {
  const types: string[] = JSON.parse(grant.allowed_types ?? "[]");
  if (isAllowedType(types, contentType)) return;
  throw new AppError("INVALID_FILE_TYPE", `The upload grant does not accept ${mediaType(contentType)}.`, {
    suggestion: `Accepted: ${types.join(", ")}.`,
  });
}

const unknown = () =>
  new AppError("UNAUTHORIZED", "The upload grant is unknown, or was revoked together with its key.", {
    suggestion: askAgain,
    deadLink: "unknown",
  });
const expired = () => ended("has expired", "expired");
const usedUp = ({ max_files }: Grant) =>
  ended(
    `is used up: it allowed ${max_files === 1 ? "1 upload, which was" : `${max_files} uploads, and all were`} started`,
    "used up",
  );

const ended = (what: string, deadLink: DeadLink) =>
  new AppError("FORBIDDEN", `The upload grant ${what}.`, { suggestion: askAgain, deadLink });

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

const idLength = 26;

/**
 * `<prefix><id><signature>`: an id that only this service can have issued. Nothing in it has to be kept secret from
 * the database, so a repeated call can be given the same token.
 */
export interface SignedIds {
  sign(id: string): string;
  /** The id in a genuine token; null otherwise. */
  read(token: string): string | null;
}

/** The first key signs, all of them verify. */
export function createSignedIds(keyring: Keyring, purpose: string, prefix: string): SignedIds {
  const keys = keyring.keysFor(purpose);
  const [signingKey] = keys;
  if (signingKey === undefined) throw new Error("signing ids needs a key");
  return {
    sign: (id) => prefix + id + signatureOf(id, signingKey),
    read(token) {
      if (!token.startsWith(prefix)) return null;
      const id = token.slice(prefix.length, prefix.length + idLength);
      const given = Buffer.from(token.slice(prefix.length + idLength));
      if (!isId(id)) return null;
      const isGenuine = keys.some((key) => {
        const expected = Buffer.from(signatureOf(id, key));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      return isGenuine ? id : null;
    },
  };
}

const signatureOf = (id: string, key: KeyObject) =>
  createHmac("sha256", key).update(id).digest("base64url").slice(0, 32);

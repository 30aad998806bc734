import { GRANT_MAX_SEC, LINK_MAX_SEC } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { hasEnded } from "../../files/life.ts";
import { nameFile } from "../../files/serialize.ts";
import { AppError, type DeadLink, fileNotFound } from "../../kernel/errors.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";
import { type ServedObject, secretAddress, sendObject } from "../send-object.ts";
import { createServedFiles } from "../stored-bytes.ts";
import { countUse } from "./count-use.ts";
import { findGrantedFile, findLinkedFile, type ReadableFile } from "./queries.ts";
import { openKeys } from "./read-keys.ts";
import { type Claim, type GrantFacts, isGenuine, type LinkFacts, readGrant, readLink } from "./tokens.ts";

/** Forged tokens get the same response as unknown files. Genuine ones that have ended get 403 with the reason. */
export function linkServingRoutes(app: FastifyInstance, deps: Deps): void {
  const schema = { hide: true };
  const links = createTokenCheck<LinkFacts>(deps, LINK_MAX_SEC, readLink);
  const grants = createTokenCheck<GrantFacts>(deps, GRANT_MAX_SEC, readGrant);

  app.get<{ Params: { token: string; name: string } }>(
    "/s/:token/:name",
    { schema, config: { customDomain: "own-links" } },
    async (request, reply) => {
      const { token, name } = request.params;
      const link = links.read(token, name);
      const file = link && (await deps.db.recall(findLinkedFile, { id: link.facts.fileId }));
      if (link === null || file === null || hasEnded(file, deps.now) || !isAtHome(request, file))
        throw fileNotFound();
      links.check(link, file);
      const { facts } = link;
      checkLasts(deps, facts, [file.all_revoked_at, file.links_revoked_at, file.audience_revoked_at]);
      const object = toServed(file, facts, name);
      const { countedId } = facts;
      if (countedId !== null && !(await countUse(deps, request, countedId, object))) throw over("used up");
      return sendFile(deps, request, reply, object);
    },
  );

  app.get<{ Params: { token: string; "*": string } }>(
    "/g/:token/*",
    { schema, config: { customDomain: "own-files" } },
    async (request, reply) => {
      const grant = grants.read(request.params.token, "");
      const file = grant && (await deps.db.recall(findGrantedFile, nameFile(request.params["*"])));
      if (grant === null || file === null || hasEnded(file, deps.now) || !covers(grant.facts, file))
        throw fileNotFound();
      grants.check(grant, file);
      const isOfAudience = grant.facts.scope.kind === "audience";
      checkLasts(deps, grant.facts, [file.all_revoked_at, isOfAudience ? file.audience_revoked_at : 0]);
      return sendFile(deps, request, reply, toPlain(file));
    },
  );

  // A URL with missing parts counts as forged.
  for (const path of ["/s/*", "/g/*"]) {
    app.get(path, { schema, config: { customDomain: "own-links" } }, async () => {
      throw fileNotFound();
    });
  }
}

interface ReadToken<Facts> {
  facts: Facts;
  claim: Claim<Facts>;
  /** The key with which it was found to be genuine. */
  genuineFor: string | null;
}

const mostRemembered = 10_000;

/** Pages request the same URLs again and again, so a genuine token is verified once for each key. */
function createTokenCheck<Facts extends LinkFacts | GrantFacts>(
  { keyring, now }: Deps,
  mostSec: number,
  parse: (token: string, name: string) => Claim<Facts> | null,
) {
  const genuine = createShortMemory<ReadToken<Facts>>(mostRemembered);
  return {
    /** Null if it is malformed. Untrusted until `check`. */
    read(token: string, name: string): ReadToken<Facts> | null {
      const known = genuine.find(`${token}/${name}`);
      if (known !== undefined) return known;
      const claim = parse(token, name);
      return claim && { facts: claim.facts, claim, genuineFor: null };
    },
    check(read: ReadToken<Facts>, file: ReadableFile): void {
      if (read.genuineFor !== null && read.genuineFor === file.current_sealed) return;
      if (!isGenuine(read.claim, openKeys(keyring, file), mostSec, now())) throw fileNotFound();
      read.genuineFor = file.current_sealed;
      genuine.remember(read.claim.id, read);
    },
  };
}

function isAtHome({ boundProject }: FastifyRequest, file: ReadableFile): boolean {
  return boundProject === undefined || boundProject === file.project_id;
}

function checkLasts(
  { now }: Deps,
  { signedAt, expiresAt }: LinkFacts | GrantFacts,
  revokedAt: number[],
): void {
  if (now() >= expiresAt) throw over("expired");
  if (revokedAt.some((at) => signedAt <= at)) throw over("revoked");
}

/** Decided at each read: covers files added later, and no longer those that left the scope. */
function covers({ scope }: GrantFacts, file: ReadableFile): boolean {
  if (scope.kind === "route") return file.route_slug === scope.value;
  if (scope.kind === "audience") return file.audience === scope.value;
  return file.key.startsWith(`${file.project_id}/${scope.value}`);
}

async function sendFile(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  object: ServedObject,
): Promise<FastifyReply> {
  return (await sendObject(deps, request, reply, object)) ?? reply;
}

function toServed(file: ReadableFile, { shown, countedId }: LinkFacts, name: string): ServedObject {
  if (shown === "inline" && countedId === null) return toPlain(file);
  return {
    ...toPlain(file),
    isLasting: false,
    privacy: countedId === null ? "private" : "unrepeatable",
    isDownload: shown !== "inline",
    fileName: shown === "named" ? name : file.name,
  };
}

const toPlain = createServedFiles(() => ({ privacy: "private", mayBeShared: false }));

function over(reason: DeadLink): AppError {
  return new AppError("FORBIDDEN", reason, {
    deadLink: reason,
    suggestion: "Request a new link from the site that gave you this one.",
    headers: { "cache-control": "no-store", "access-control-allow-origin": "*", ...secretAddress },
  });
}

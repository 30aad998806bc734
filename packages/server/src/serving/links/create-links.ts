import {
  COUNTED_LINKS_PER_FILE_MAX,
  type CreateGrantBody,
  type CreateLinksBody,
  type Grant,
  LINK_SEC,
  type Link,
} from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { nameFile } from "../../files/serialize.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { recordUnlessKey } from "../../projects/audit/record.ts";
import { cdnFor } from "../../projects/file-url.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import {
  countOpenLinks,
  findAudienceRevocation,
  findRevocationMark,
  insertCountedLink,
  type LinkableFile,
  listLinkable,
} from "./queries.ts";
import { getOrCreate, getSigningKey } from "./read-keys.ts";
import {
  type GrantFacts,
  type LinkFacts,
  type ScopeKind,
  type Shown,
  signGrant,
  signLink,
} from "./tokens.ts";

type OnSaved<Plan> = (tx: Queryable, plan: Plan) => Promise<void>;

/** Unsigned links. Signed ones are never stored. */
export interface LinkPlan {
  links: { key: string; name: string; maxUses: number | null; facts: LinkFacts }[];
  /** Keys without a readable file. */
  missing: string[];
}

export async function planLinks(
  deps: Deps,
  actor: Actor,
  body: CreateLinksBody,
  onSaved: OnSaved<LinkPlan>,
): Promise<LinkPlan> {
  const { projectId, environment } = actor;
  const scope = { projectId, environment };
  const keys = [...new Set(body.keys)];
  const { revoked_at: allRevokedAt } = await getOrCreate(deps, scope);
  const files = await deps.db.all(listLinkable, {
    ...scope,
    idsJson: JSON.stringify(keys.map((key) => nameFile(key).id)),
    namesJson: JSON.stringify(keys),
    take: keys.length,
    now: deps.now(),
  });
  const named = new Map(files.flatMap((file) => [[file.key, file] as const, [file.id, file] as const]));
  const now = deps.now();
  const expiresAt = now + (body.expiresIn ?? LINK_SEC) * 1000;
  const plan: LinkPlan = { links: [], missing: [] };
  for (const key of keys) {
    const file = named.get(key);
    if (file === undefined) plan.missing.push(key);
    else plan.links.push({ key, ...planLink(file, body, { now, expiresAt, allRevokedAt }) });
  }
  if (plan.links.length === 0) return plan;
  await deps.db.transact(async (tx) => {
    for (const link of plan.links) await saveIfCounted(tx, now, link);
    await writeLog(tx, now, {
      ...scope,
      type: "links.created",
      message: `${plan.links.length === 1 ? "A link was" : `${plan.links.length} links were`} created.`,
      data: {
        files: plan.links.map(({ facts }) => facts.fileId),
        expiresAt: isoTime(expiresAt),
        maxUses: body.maxUses ?? null,
      },
    });
    const [first] = plan.links;
    await recordUnlessKey(tx, now, deps.author, {
      action: "links.created",
      target: { kind: "files", id: first?.facts.fileId ?? "" },
      projectId,
      after: {
        ids: plan.links.map(({ facts }) => facts.fileId),
        expiresAt: isoTime(expiresAt),
        maxUses: body.maxUses,
      },
    });
    await onSaved(tx, plan);
  });
  return plan;
}

function planLink(
  file: LinkableFile,
  { download, maxUses }: CreateLinksBody,
  { now, expiresAt, allRevokedAt }: { now: number; expiresAt: number; allRevokedAt: number },
): Omit<LinkPlan["links"][number], "key"> {
  const signedAt = afterRevocations(now, allRevokedAt, file.links_revoked_at, file.audience_revoked_at);
  const { shown, name } = showAs(download, file.name);
  const countedId = maxUses === undefined ? null : createId(now);
  const facts = { signedAt, expiresAt, fileId: file.id, shown, countedId };
  return { name, maxUses: maxUses ?? null, facts };
}

async function saveIfCounted(tx: Queryable, now: number, link: LinkPlan["links"][number]): Promise<void> {
  const { facts, maxUses, name } = link;
  const { countedId, fileId, signedAt, expiresAt } = facts;
  if (countedId === null || maxUses === null) return;
  const open = await tx.get(countOpenLinks, { fileId, now });
  if (Number(open?.count ?? 0) >= COUNTED_LINKS_PER_FILE_MAX) throw tooManyLinks(name);
  await tx.run(insertCountedLink, {
    id: countedId,
    file_id: fileId,
    max_uses: maxUses,
    uses: 0,
    // Compared with revocations, as the signature is.
    created_at: signedAt,
    expires_at: expiresAt,
  });
}

/** Deterministic, so that a repeated call gets the same URLs until the key is rotated. */
export async function signPlan(deps: Deps, actor: Actor, { links }: LinkPlan): Promise<Link[]> {
  const { projectId, environment } = actor;
  const signingKey = await getSigningKey(deps, { projectId, environment });
  const { cdnUrl } = cdnFor(deps.config, actor);
  return links.map(({ key, name, maxUses, facts }) => ({
    key,
    url: linkUrl(cdnUrl, signLink(signingKey, facts, name), name),
    expiresAt: isoTime(facts.expiresAt),
    maxUses,
  }));
}

const linkUrl = (cdnUrl: string, token: string, name: string) =>
  `${cdnUrl}/s/${token}/${encodeURIComponent(name)}`;

/** For the dashboard, at the installation's own URL. */
export async function linkTo(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  { id, name }: { id: string; name: string },
): Promise<string> {
  const key = await getSigningKey(deps, { projectId, environment });
  const mark = (await findRevocationMark(deps, { id, access: "private" })) ?? 0;
  const now = deps.now();
  const shown = showAs(undefined, name);
  const facts = {
    signedAt: afterRevocations(now, mark),
    expiresAt: now + LINK_SEC * 1000,
    fileId: id,
    shown: shown.shown,
    countedId: null,
  };
  return linkUrl(deps.config.cdnUrl, signLink(key, facts, shown.name), shown.name);
}

/** Keeps a revocation from ending links created right after it. */
function afterRevocations(now: number, ...revokedAt: number[]): number {
  return Math.max(now, ...revokedAt.map((at) => at + 1));
}

function showAs(download: boolean | string | undefined, fileName: string): { shown: Shown; name: string } {
  if (typeof download === "string") return { shown: "named", name: toSegment(download) };
  return { shown: download === true ? "download" : "inline", name: toSegment(fileName) };
}

/** A single path segment: no separators, and nothing that URL normalisation removes. */
function toSegment(name: string): string {
  const plain = name.toWellFormed().replaceAll(/[/\\\p{Cc}]/gu, "_");
  return /^\.{1,2}$/.test(plain) ? "_" : plain;
}

export async function planGrant(
  deps: Deps,
  { projectId, environment }: Actor,
  body: CreateGrantBody,
  onSaved: OnSaved<GrantFacts>,
): Promise<GrantFacts> {
  const owner = { projectId, environment };
  const scope = readScope(body);
  const { revoked_at: allRevokedAt } = await getOrCreate(deps, owner);
  const revoked =
    scope.kind === "audience"
      ? await deps.db.get(findAudienceRevocation, { ...owner, audience: scope.value })
      : null;
  const now = deps.now();
  const facts: GrantFacts = {
    signedAt: afterRevocations(now, allRevokedAt, revoked?.revoked_at ?? 0),
    expiresAt: now + (body.expiresIn ?? LINK_SEC) * 1000,
    scope,
    subject: body.subject ?? "",
  };
  const reader = body.subject === undefined ? "" : ` for "${body.subject}"`;
  await deps.db.transact(async (tx) => {
    await writeLog(tx, now, {
      ...owner,
      type: "grant.created",
      message: `A grant for the ${scope.kind} "${scope.value}" was created${reader}.`,
      data: { ...scope, subject: body.subject ?? null, expiresAt: isoTime(facts.expiresAt) },
    });
    await recordUnlessKey(tx, now, deps.author, {
      action: "grant.created",
      target: { kind: "environment", id: environment },
      projectId,
      after: { ...scope, subject: body.subject, expiresAt: isoTime(facts.expiresAt) },
    });
    await onSaved(tx, facts);
  });
  return facts;
}

export async function signPlannedGrant(deps: Deps, actor: Actor, facts: GrantFacts): Promise<Grant> {
  const { projectId, environment } = actor;
  const token = signGrant(await getSigningKey(deps, { projectId, environment }), facts);
  const { cdnUrl } = cdnFor(deps.config, actor);
  return { token, baseUrl: `${cdnUrl}/g/${token}`, expiresAt: isoTime(facts.expiresAt) };
}

function readScope({ routeSlug, prefix, audience }: CreateGrantBody): { kind: ScopeKind; value: string } {
  const given: [ScopeKind, string | undefined][] = [
    ["route", routeSlug],
    ["prefix", prefix],
    ["audience", audience],
  ];
  const named = given.filter((entry): entry is [ScopeKind, string] => entry[1] !== undefined);
  const [first] = named;
  if (first === undefined || named.length > 1)
    throw invalid("routeSlug", "or prefix or audience is required, and only one of them");
  return { kind: first[0], value: first[1] };
}

function tooManyLinks(name: string): AppError {
  return new AppError(
    "TIER_LIMIT_EXCEEDED",
    `"${name}" has ${COUNTED_LINKS_PER_FILE_MAX} open links with limited uses.`,
    { suggestion: "Wait until some expire, or create links without maxUses." },
  );
}

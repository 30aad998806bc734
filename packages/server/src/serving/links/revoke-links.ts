import { setTimeout as wait } from "node:timers/promises";
import { LINK_MAX_SEC, type RevokeLinksBody } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { inSteps } from "../../db/job-leases.ts";
import type { Deps } from "../../deps.ts";
import { nameFile } from "../../files/serialize.ts";
import type { Actor } from "../../kernel/actor.ts";
import { invalid } from "../../kernel/errors.ts";
import { record } from "../../projects/audit/record.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import {
  deleteEndedLinks,
  deleteOldRevocations,
  deleteUsesOfEnded,
  revokeAll,
  revokeAudience,
  revokeFiles,
} from "./queries.ts";
import { getOrCreate } from "./read-keys.ts";

type Owner = Pick<Actor, "projectId" | "environment">;

export interface Revocation {
  /** Files whose links were revoked. */
  revoked: number;
  missing: string[];
}

/** Once this resolves, everything signed earlier is rejected on every instance, and everything signed later is accepted. */
export async function revokeLinks(
  deps: Deps,
  { projectId, environment }: Actor,
  body: RevokeLinksBody,
  onSaved: (tx: Queryable, revocation: Revocation) => Promise<void>,
): Promise<Revocation> {
  const { keys, audience, all } = body;
  if ([keys, audience, all].filter((field) => field !== undefined).length !== 1)
    throw invalid("keys", "or audience or all is required, and only one of them");
  const owner = { projectId, environment };
  if (all) await getOrCreate(deps, owner);
  const now = deps.now();
  const wanted = [...new Set(keys)];
  const revocation = await deps.db.transact(async (tx) => {
    const files = await revoke(tx, owner, { wanted, audience, now });
    const found = new Set(files.flatMap(({ id, key }) => [id, key]));
    await record(tx, now, deps.author, {
      action: "links.revoked",
      target:
        wanted.length === 0
          ? { kind: "environment", id: environment }
          : { kind: "files", id: files[0]?.id ?? wanted[0] ?? "" },
      projectId,
      after: { ids: files.map(({ id }) => id), audience, all },
    });
    const done = { revoked: files.length, missing: wanted.filter((key) => !found.has(key)) };
    await onSaved(tx, done);
    return done;
  });
  // A link signed in the same millisecond would be rejected.
  await wait(2);
  return revocation;
}

interface Order {
  wanted: string[];
  audience: string | undefined;
  now: number;
}

async function revoke(tx: Queryable, owner: Owner, { wanted, audience, now }: Order) {
  const log = (message: string, data: object) =>
    writeLog(tx, now, { ...owner, type: "links.revoked", message, data });
  if (audience !== undefined) {
    await tx.run(revokeAudience, { ...owner, audience, now });
    await log(`All links and grants of the audience "${audience}" were revoked.`, { audience });
    return [];
  }
  if (wanted.length === 0) {
    await tx.run(revokeAll, { ...owner, now });
    await log("All links and grants were revoked.", { all: true });
    return [];
  }
  const idsJson = JSON.stringify(wanted.map((key) => nameFile(key).id));
  const files = await tx.all(revokeFiles, { ...owner, idsJson, namesJson: JSON.stringify(wanted), now });
  for (const file of files)
    await writeLog(tx, now, {
      ...owner,
      type: "links.revoked",
      message: `All links of "${file.name}" were revoked.`,
      file,
    });
  return files;
}

/** Older revocations have nothing left to end: no link lives longer. */
const keptMs = (LINK_MAX_SEC + 3600) * 1000;

export async function forgetEndedLinks({ db, now }: Deps, signal: AbortSignal): Promise<void> {
  // One moment for both statements: a link that ends in between still has its uses.
  const ended = { now: now() };
  await inSteps(async (take) => {
    const uses = await db.run(deleteUsesOfEnded, { ...ended, take });
    return uses === take ? uses : db.run(deleteEndedLinks, { ...ended, take });
  }, signal);
  await inSteps((take) => db.run(deleteOldRevocations, { before: now() - keptMs, take }), signal);
}

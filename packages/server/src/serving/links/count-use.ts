import { hash } from "node:crypto";
import { LINK_USE_SEC } from "@upstow/contract";
import type { FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { findRange, type ServedObject } from "../send-object.ts";
import { findUnused, findUse, noteUse, returnUse, takeUse } from "./queries.ts";

/**
 * Counts a use before any byte is sent, so that a crash can waste a use but never give one away. Range requests of a client
 * belong to its last use for ten minutes, so that downloads can resume. Responses without bytes are free. False if no use is
 * left.
 */
export async function countUse(
  { db, now }: Pick<Deps, "db" | "now">,
  request: FastifyRequest,
  linkId: string,
  object: ServedObject,
): Promise<boolean> {
  const asked = findRange(request, object);
  // A range that does not exist is rejected with 416.
  const isFree = request.method === "HEAD" || asked === "none";
  const client = clientOf(request);
  const at = now();
  const link = { id: linkId, fileId: object.fileId };
  return db.transact(async (tx) => {
    const since = at - LINK_USE_SEC * 1000;
    const mayResume = isFree || asked !== "all";
    const resumes = async () => mayResume && (await tx.get(findUse, { linkId, client, since })) !== null;
    if (isFree) return (await tx.get(findUnused, link)) !== null || resumes();
    if (await resumes()) return true;
    const hasTaken = (await tx.run(takeUse, link)) > 0;
    // Another range of this client may have been counted while this one waited for the link's row.
    if (await resumes()) {
      if (hasTaken) await tx.run(returnUse, link);
      return true;
    }
    if (!hasTaken) return false;
    await tx.run(noteUse, { linkId, client, now: at });
    return true;
  });
}

function clientOf({ ip, headers }: FastifyRequest): string {
  return hash("sha256", `${ip}\n${headers["user-agent"] ?? ""}`).slice(0, 32);
}

import { hash } from "node:crypto";
import { LINK_USE_SEC } from "@upstow/contract";
import type { FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { findRange, type ServedObject } from "../send-object.ts";
import { findUse, noteUse, takeUse } from "./queries.ts";

/**
 * Counts a use before any byte is sent, so that a crash can waste a use but never give one away. Range requests of a client
 * belong to its last use for ten minutes, so that downloads can resume. False if no use is left.
 */
export async function countUse(
  { db, now }: Pick<Deps, "db" | "now">,
  request: FastifyRequest,
  linkId: string,
  object: ServedObject,
): Promise<boolean> {
  if (request.method === "HEAD") return true;
  const asked = findRange(request, object);
  // Rejected with 416, so nothing is sent.
  if (asked === "none") return true;
  const client = clientOf(request);
  const at = now();
  return db.transact(async (tx) => {
    const since = at - LINK_USE_SEC * 1000;
    if (asked !== "all" && (await tx.get(findUse, { linkId, client, since })) !== null) return true;
    if ((await tx.run(takeUse, { id: linkId, fileId: object.fileId })) === 0) return false;
    await tx.run(noteUse, { linkId, client, now: at });
    return true;
  });
}

function clientOf({ ip, headers }: FastifyRequest): string {
  return hash("sha256", `${ip}\n${headers["user-agent"] ?? ""}`).slice(0, 32);
}

import type { KeyType } from "@upstow/contract";
import type { ApiKeyRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { isId } from "../../kernel/ids.ts";
import { createKey, revokeKey } from "../api-keys/api-keys.ts";
import { findKey } from "../api-keys/queries.ts";
import { findAccountOfProject } from "./queries.ts";

type OperatorDeps = Pick<Deps, "db" | "now" | "author">;

const nameMax = 100;

export async function createKeyFor(
  deps: OperatorDeps,
  wanted: { projectId: string; type: KeyType; name: string },
): Promise<{ key: ApiKeyRow; secret: string }> {
  if (wanted.name === "" || [...wanted.name].length > nameMax) {
    throw invalid("name", `must have 1 to ${nameMax} characters`);
  }
  return deps.db.transact(async (tx) => {
    const account = await tx.get(findAccountOfProject, { projectId: wanted.projectId });
    if (account === null) {
      throw new AppError("NOT_FOUND", `There is no project ${wanted.projectId}.`, {
        suggestion: "Check the id; a deleted project takes no new keys.",
      });
    }
    return createKey(tx, deps.now(), { ...wanted, tier: account.tier, author: deps.author });
  });
}

export async function revokeAnyKey(deps: OperatorDeps, id: string): Promise<ApiKeyRow> {
  // The argument may be a secret, which must not appear on a screen or in a log.
  if (!isId(id)) {
    throw new AppError("VALIDATION_ERROR", "This is not the id of a key.", {
      suggestion: "Give the id that the dashboard and `upstow key create` show, not the secret.",
    });
  }
  return deps.db.transact(async (tx) => {
    const key = await tx.get(findKey, { id });
    if (key === null) {
      throw new AppError("NOT_FOUND", `There is no key ${id}.`, {
        suggestion:
          "Check the id and that UPSTOW_DATA_DIR or UPSTOW_DATABASE_URL name the right installation.",
      });
    }
    if (key.revoked_at !== null) {
      throw new AppError("NOT_FOUND", `Key ${id} was revoked already.`, {
        suggestion: "Nothing is left to do.",
      });
    }
    await revokeKey(tx, deps.now(), deps.author, id);
    return key;
  });
}

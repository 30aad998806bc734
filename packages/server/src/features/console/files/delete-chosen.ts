import type { Environment } from "@upstow/contract";
import { isOneOf } from "../../../db/expressions.ts";
import { statement } from "../../../db/statement.ts";
import type { Deps } from "../../../deps.ts";
import type { Actor } from "../../api-keys/actor.ts";
import { deleteFiles } from "../../files/delete-files.ts";
import { removeBytes } from "../../files/storage-deletions.ts";

const batchSize = 100;

const listKeys = statement(
  (q, p: { idsJson: string; projectId: string; environment: Environment }, dialect) =>
    q
      .selectFrom("file")
      .select("key")
      .where(isOneOf(dialect, "id", p.idsJson))
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where("status", "<>", "DELETED"),
);

/** In batches, each a transaction of its own, so that a large choice holds nobody up. */
export async function deleteChosen(deps: Deps, actor: Actor, ids: string[]): Promise<{ deleted: number }> {
  const { projectId, environment } = actor;
  let deleted = 0;
  for (let from = 0; from < ids.length; from += batchSize) {
    const idsJson = JSON.stringify(ids.slice(from, from + batchSize));
    const rows = await deps.db.all(listKeys, { idsJson, projectId, environment });
    const keys = rows.map((row) => row.key);
    const done = await deps.db.transact((tx) =>
      deleteFiles(tx, deps.now(), { projectId, environment }, keys),
    );
    await removeBytes(deps, done.deletions);
    deleted += done.deletedKeys.size;
  }
  return { deleted };
}

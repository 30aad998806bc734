import { ENVIRONMENTS } from "@upstow/contract";
import type { WebhookSigningKeyTable } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { findSigningKeys, listSigningKeys, replaceSigningKeys } from "./signing-key-queries.ts";
import { purpose } from "./signing-keys.ts";

const batchSize = 100;

type ResealDeps = Pick<Deps, "db" | "keyring">;

export async function resealSigningKeys(deps: ResealDeps): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    let rows: WebhookSigningKeyTable[];
    let after = "";
    do {
      rows = await deps.db.all(listSigningKeys, { environment, after, take: batchSize });
      for (const row of rows) await resealRow(deps, row);
      after = rows.at(-1)?.project_id ?? "";
    } while (rows.length === batchSize);
  }
}

async function resealRow(deps: ResealDeps, row: WebhookSigningKeyTable): Promise<void> {
  const reseal = (sealed: string | null) => sealed && deps.keyring.reseal(sealed, purpose);
  const [current, next] = [reseal(row.current_sealed), reseal(row.next_sealed)];
  const previous = reseal(row.previous_sealed);
  if (current === null && next === null && previous === null) return;
  const changed = await deps.db.run(replaceSigningKeys, {
    ...row,
    current_sealed: current ?? row.current_sealed,
    next_sealed: next ?? row.next_sealed,
    previous_sealed: previous ?? row.previous_sealed,
    seenCurrent: row.current_sealed,
  });
  if (changed === 1) return;
  // Rotated meanwhile, by an instance that may know the older secret alone.
  const { project_id: projectId, environment } = row;
  const rotated = await deps.db.get(findSigningKeys, { projectId, environment });
  if (rotated !== null) await resealRow(deps, rotated);
}

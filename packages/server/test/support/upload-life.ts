import assert from "node:assert/strict";
import { createJobLeases } from "../../src/db/job-leases.ts";
import { statement } from "../../src/db/statement.ts";
import { hashApiKey } from "../../src/kernel/security/api-key-secret.ts";
import { findActorByKeyHash } from "../../src/projects/api-keys/queries.ts";
import type { TestApp } from "./start-app.ts";
import { createUploadClient, type UploadClient } from "./upload-client.ts";

const selectLogTypes = statement((q, p: { fileId: string }) =>
  q.selectFrom("log").select("type").where("file_id", "=", p.fileId).orderBy("id"),
);

/** What the disk holds of a key. */
export const listObjects = statement((q, p: { key: string }) =>
  q.selectFrom("disk_object").select("state").where("key", "=", p.key),
);

/** A project of its own, so that its counters are those of one test. */
export async function createTenantClients(app: TestApp) {
  const tenant = await app.createTenant("pro");
  return {
    tenant,
    client: createUploadClient(app, tenant.live),
    test: createUploadClient(app, tenant.test),
  };
}

/** The same, with the actor that stands for its live key in calls of functions. */
export async function createUploader(app: TestApp) {
  const { tenant, client } = await createTenantClients(app);
  const actor = await app.app.deps.db.get(findActorByKeyHash, { hash: hashApiKey(tenant.live) });
  assert.ok(actor);
  return { projectId: tenant.projectId, client, actor };
}

/** The status of the file, or that of the answer where there is none. */
export async function statusOf(client: UploadClient, key: string): Promise<string> {
  const answer = await client.get(key);
  return answer.status === 200 ? answer.body.file.status : String(answer.status);
}

export async function listLogTypes(app: TestApp, fileId: string): Promise<string[]> {
  return (await app.app.deps.db.all(selectLogTypes, { fileId })).map((row) => row.type);
}

/** The service reaps by itself every minute. On PostgreSQL, which takes longer, that could be in the middle of a test. */
export async function keepReaperAway(app: TestApp): Promise<void> {
  const runLeased = createJobLeases(app.app.deps.db);
  await runLeased("end abandoned uploads", 24 * 3_600_000, async () => {}, new AbortController().signal);
}

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { statement } from "../../../src/db/statement.ts";
import type { TestApp } from "../start-app.ts";
import type { UploadClient } from "../upload-client.ts";

/** Starts an import and waits for its end. */
export async function importFrom(client: UploadClient, url: string, fields: object = {}) {
  const answer = await client.post("upload/import", { url, routeSlug: "default", ...fields });
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return settled(client, answer.body.file.id);
}

/** The file once its import has ended. */
export async function settled(client: Pick<UploadClient, "get">, id: string) {
  for (;;) {
    const { status, body } = await client.get(id);
    assert.equal(status, 200, JSON.stringify(body));
    if (body.file.status !== "UPLOADING") return body.file;
    await wait(10);
  }
}

const countMessages = statement((q, p: { fileId: string }) =>
  q
    .selectFrom("webhook_message")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("file_id", "=", p.fileId),
);
const countRows = statement((q, p: { fileId: string }) =>
  q
    .selectFrom("file_import")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("file_id", "=", p.fileId),
);

export async function countEvents(app: TestApp, fileId: string): Promise<number> {
  return Number((await app.app.deps.db.get(countMessages, { fileId }))?.count);
}

export async function countImports(app: TestApp, fileId: string): Promise<number> {
  return Number((await app.app.deps.db.get(countRows, { fileId }))?.count);
}

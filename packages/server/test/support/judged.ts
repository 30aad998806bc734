import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import type { UploadClient } from "./upload-client.ts";

/** The file once its scan has ended. */
export async function judged(client: Pick<UploadClient, "get">, id: string, status = 200) {
  for (;;) {
    const { status: seen, body } = await client.get(id);
    if (status === 404 && seen === 404) return null;
    assert.equal(seen, 200, JSON.stringify(body));
    if (status === 200 && body.file.scan !== "pending") return body.file;
    await wait(20);
  }
}

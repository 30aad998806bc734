import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { importFrom } from "./support/imports/import-client.ts";
import { type Source, startSource } from "./support/imports/source.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createTenantClients } from "./support/upload-life.ts";

onAnyDatabase("the event stream during an import", (database) => {
  let app: TestApp;
  let source: Source;
  before(async () => {
    source = await startSource();
    app = await startApp({ database, env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });
  });
  after(async () => {
    await app.close();
    await source.close();
  });

  it("tells of progress and failure without an id, and of the outcome as ever", async () => {
    const { client } = await createTenantClients(app);
    const stop = new AbortController();
    const response = await fetch(`${app.url}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${client.key}` },
      signal: stop.signal,
    });
    const blocks = readBlocks(response);
    await blocks.next();
    const next = async (event: string) => {
      for (;;) {
        const { done, value: block } = await blocks.next();
        if (done === true) throw new Error(`the stream ended before ${event}`);
        const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s)));
        if (fields["event"] === event) return { id: fields["id"], data: JSON.parse(fields["data"] ?? "") };
      }
    };
    const release = Promise.withResolvers<void>();
    source.paths.set("/two", async (_, answer) => {
      answer.writeHead(200, { "content-length": 2 * PART_SIZE_BYTES });
      answer.write(Buffer.alloc(PART_SIZE_BYTES));
      await release.promise;
      answer.end(Buffer.alloc(PART_SIZE_BYTES));
    });
    const importing = importFrom(client, `${source.url}/two`);
    for (;;) {
      const { id, data } = await next("upload.progress");
      assert.equal(id, undefined);
      if (data.progress.receivedBytes < PART_SIZE_BYTES) continue;
      assert.deepEqual(data.progress, { receivedBytes: PART_SIZE_BYTES, totalBytes: 2 * PART_SIZE_BYTES });
      break;
    }
    release.resolve();
    const file = await importing;
    const completed = await next("upload.completed");
    assert.deepEqual([completed.data.fileId, Number(completed.id) > 0], [file.id, true]);
    source.paths.set("/gone", (_, answer) => void answer.writeHead(410).end());
    const failed = await importFrom(client, `${source.url}/gone`);
    const news = await next("upload.failed");
    assert.deepEqual([news.id, news.data.fileId, news.data.failure], [undefined, failed.id, failed.failure]);
    stop.abort();
  });
});

async function* readBlocks(response: Response): AsyncGenerator<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const parts = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
    text = parts.pop() ?? "";
    yield* parts;
  }
}

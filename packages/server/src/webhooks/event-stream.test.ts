import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import { createFile } from "../../test/support/webhooks/queue.ts";
import { uploadFile } from "../../test/support/webhooks/upload.ts";
import { openPostgres } from "../db/postgres/postgres.ts";
import { createAnnouncer } from "./alarm.ts";
import { enqueueUploadCompleted } from "./enqueue.ts";

interface StreamEvent {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any;
}

interface OpenStream {
  status: number;
  headers: Headers;
  /** The number behind which the stream begins. */
  start(): Promise<string | undefined>;
  next(): Promise<StreamEvent>;
  comment(): Promise<void>;
  /** Resolves when the server has ended the stream. */
  ended(): Promise<void>;
  close(): void;
}

async function openStream(app: TestApp, key: string, options: { query?: string; lastEventId?: string } = {}) {
  const abort = new AbortController();
  const response = await fetch(`${app.url}/api/v1/events/stream${options.query ?? ""}`, {
    signal: abort.signal,
    headers: {
      authorization: `Bearer ${key}`,
      ...(options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId }),
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let buffered = "";

  async function readBlock(): Promise<string | null> {
    for (;;) {
      const end = buffered.indexOf("\n\n");
      if (end >= 0) {
        const block = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        return block;
      }
      const read = await reader?.read();
      if (read === undefined || read.done) return null;
      buffered += read.value;
    }
  }

  const stream: OpenStream = {
    status: response.status,
    headers: response.headers,
    async start() {
      return /^id: (\d+)$/m.exec((await readBlock()) ?? "")?.[1];
    },
    async next() {
      for (;;) {
        const block = await readBlock();
        if (block === null) throw new Error("the stream ended");
        if (!block.startsWith("id: ")) continue;
        const fields = Object.fromEntries(
          block.split("\n").map((line) => {
            const colon = line.indexOf(": ");
            return [line.slice(0, colon), line.slice(colon + 2)];
          }),
        );
        return {
          id: fields["id"] ?? "",
          event: fields["event"] ?? "",
          data: JSON.parse(fields["data"] ?? "null"),
        };
      }
    },
    async comment() {
      for (;;) {
        const block = await readBlock();
        if (block === null) throw new Error("the stream ended");
        if (block.startsWith(":")) return;
      }
    },
    async ended() {
      while ((await readBlock()) !== null);
    },
    close: () => abort.abort(),
  };
  return stream;
}

onAnyDatabase("the event stream", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  beforeEach(async () => {
    tenant = await app.createTenant("pro");
  });

  it("carries each event of the key's environment as it is committed, with the text that is signed", async () => {
    const stream = await openStream(app, tenant.test);
    assert.equal(stream.status, 200);
    assert.match(stream.headers.get("content-type") ?? "", /^text\/event-stream/);
    await uploadFile(app, tenant.live, "default");
    const file = await uploadFile(app, tenant.test, "default", { n: 1 });
    const { event, data } = await stream.next();
    assert.equal(event, "upload.completed");
    assert.deepEqual(Object.keys(data), ["messageId", "event", "fileId", "routeSlug", "createdAt", "body"]);
    assert.match(data.messageId, /^msg_/);
    assert.equal(data.fileId, file.id);
    const body = JSON.parse(data.body);
    assert.equal(body.file.id, file.id);
    assert.equal(body.projectId, tenant.projectId);
    assert.equal(JSON.stringify(body), data.body);
    stream.close();
  });

  it("goes on behind Last-Event-ID, missing and repeating nothing", async () => {
    const files = [];
    const first = await openStream(app, tenant.live);
    files.push(await uploadFile(app, tenant.live, "default"));
    const seen = await first.next();
    first.close();
    for (let i = 0; i < 3; i++) files.push(await uploadFile(app, tenant.live, "default"));
    const second = await openStream(app, tenant.live, { query: "?last=10", lastEventId: seen.id });
    const rest = [await second.next(), await second.next(), await second.next()];
    assert.deepEqual(
      [seen, ...rest].map(({ data }) => data.fileId),
      files.map(({ id }) => id),
    );
    files.push(await uploadFile(app, tenant.live, "default"));
    assert.equal((await second.next()).data.fileId, files.at(-1)?.id);
    second.close();
  });

  it("says where it begins, so that a client it breaks under before an event misses none", async () => {
    await uploadFile(app, tenant.live, "default");
    const broken = await openStream(app, tenant.live);
    const start = await broken.start();
    assert.equal(start, "1");
    broken.close();
    const file = await uploadFile(app, tenant.live, "default");
    const stream = await openStream(app, tenant.live, { lastEventId: start });
    assert.equal((await stream.next()).data.fileId, file.id);
    stream.close();
  });

  it("does not keep what is new from a client that has seen more than a restored database", async () => {
    const stream = await openStream(app, tenant.live, { lastEventId: "900" });
    assert.equal(await stream.start(), "0");
    const file = await uploadFile(app, tenant.live, "default");
    assert.equal((await stream.next()).data.fileId, file.id);
    stream.close();
  });

  it("replays the last events on request", async () => {
    const files = [];
    for (let i = 0; i < 4; i++) files.push(await uploadFile(app, tenant.live, "default"));
    const stream = await openStream(app, tenant.live, { query: "?last=2" });
    assert.equal((await stream.next()).data.fileId, files[2]?.id);
    assert.equal((await stream.next()).data.fileId, files[3]?.id);
    stream.close();
    const refused = [
      ["?last=-1", undefined],
      ["?last=1001", undefined],
      ["", "msg_1"],
    ] as const;
    for (const [query, lastEventId] of refused) {
      const { status } = await openStream(app, tenant.live, {
        query,
        ...(lastEventId === undefined ? {} : { lastEventId }),
      });
      assert.equal(status, 400);
    }
  });

  it("ends when its key is revoked and sends nothing after that", async () => {
    const created = await app.call("POST", `projects/${tenant.projectId}/keys`, { key: tenant.live });
    const { key, secret } = created.body;
    const busy = await openStream(app, secret);
    await app.call("DELETE", `keys/${key.id}`, { key: tenant.live });
    await uploadFile(app, tenant.live, "default");
    await assert.rejects(busy.next(), /the stream ended/);
    assert.equal((await openStream(app, secret)).status, 401);
  });

  it("shows that it lives while nothing happens, and then ends with its key all the same", async () => {
    const idle = await openStream(app, tenant.live);
    await idle.comment();
    await app.call("DELETE", `projects/${tenant.projectId}`, { key: tenant.live });
    await idle.ended();
  });

  it("lets a key have ten streams at a time and is no HEAD resource", async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => openStream(app, tenant.live)));
    assert.ok(streams.every(({ status }) => status === 200));
    const refused = await openStream(app, tenant.live);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "60");
    for (const stream of streams) stream.close();
    const head = await fetch(`${app.url}/api/v1/events/stream`, {
      method: "HEAD",
      headers: { authorization: `Bearer ${tenant.live}` },
    });
    assert.equal(head.status, 405);
  });

  it("ends cleanly and at once when the service stops, and is not kept open by it", async () => {
    const own = await startApp({ database });
    const stream = await openStream(own, own.owner.live);
    const closed = own.close();
    await stream.ended();
    await closed;
  });

  if (database === "postgres") {
    it("carries events that were made on another instance", async () => {
      const stream = await openStream(app, tenant.live);
      const other = openPostgres(app.databaseUrl ?? "");
      const file = createFile(tenant.projectId, "live");
      await other.transact((tx) =>
        enqueueUploadCompleted(tx, Date.now(), { file, webhookUrl: null, fileUrl: "https://cdn.example/a" }),
      );
      createAnnouncer(other, (error) => assert.ifError(error))();
      assert.equal((await stream.next()).data.fileId, file.id);
      stream.close();
      await other.close();
    });
  }
});

import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import sharp from "sharp";
import { sql } from "#kysely";
import { createBucketEnv, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { statement } from "../src/db/statement.ts";
import type { Deps } from "../src/deps.ts";
import { updateFile } from "../src/files/update-file.ts";
import type { S3Store } from "../src/storage/s3/s3-store.ts";
import { createPrivateReader, type PrivateReader, read } from "./support/private-reader.ts";
import type { Tenant, TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";
import { createUploadClient, type UploadClient, type UploadedFile } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();

const countWaiting = statement((q, _: object) =>
  q.selectNoFrom(
    sql<number>`(select count(*) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock')`.as("count"),
  ),
);

describe("private files of two instances with one PostgreSQL and one bucket", { skip: swiftMissing }, () => {
  let server: S3Server;
  let pair: Awaited<ReturnType<typeof startPair>>;
  let first: TestApp;
  let second: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let reader: PrivateReader;
  before(async () => {
    server = await startSwift();
    pair = await startPair({ env: await createBucketEnv(server) });
    [first, second] = pair.apps;
  });
  after(async () => {
    await pair?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    tenant = await first.createTenant("pro");
    client = createUploadClient(first, tenant.live);
    reader = createPrivateReader(client);
  });

  const upload = (access: "public" | "private"): Promise<UploadedFile> =>
    client.upload(picture, { access, audience: "team", contentType: "image/png", fileName: "a.png" });

  /** The other instance's answer. */
  const readThere = (url: string, init?: RequestInit) => read(second.url + new URL(url).pathname, init);

  interface Rights {
    file: UploadedFile;
    url: string;
    variant: string;
    link: string;
    counted: string;
    byAudience: string;
    byRoute: string;
  }

  async function createRights(): Promise<Rights> {
    const file = await upload("private");
    const shrink = { key: file.key, width: 10, format: "webp", delivery: "signed" };
    return {
      file,
      url: file.url,
      variant: (await client.post("transforms/image", shrink)).body.url,
      link: await reader.linkTo(file.key),
      counted: await reader.linkTo(file.key, { maxUses: 9 }),
      byAudience: `${await reader.grant({ audience: "team" })}/${file.key}`,
      byRoute: `${await reader.grant({ routeSlug: "default" })}/${file.key}`,
    };
  }

  async function statusesThere({ file: _, ...urls }: Rights): Promise<Record<string, number>> {
    const seen = Object.entries(urls).map(
      async ([what, url]) => [what, (await readThere(url)).status] as const,
    );
    return Object.fromEntries(await Promise.all(seen));
  }

  const open = { url: 404, variant: 200, link: 200, counted: 200, byAudience: 200, byRoute: 200 };
  const ofFile = { ...open, variant: 403, link: 403, counted: 403 };
  const ofAudience = { ...ofFile, byAudience: 403 };
  const closed = { url: 404, variant: 404, link: 404, counted: 404, byAudience: 404, byRoute: 404 };
  const endings: Record<string, [end: (rights: Rights) => Promise<unknown>, left: object]> = {
    "a revocation of the file's links": [({ file }) => reader.revoke({ keys: [file.key] }), ofFile],
    "a revocation of the audience": [() => reader.revoke({ audience: "team" }), ofAudience],
    "a revocation of everything": [() => reader.revoke({ all: true }), { ...ofAudience, byRoute: 403 }],
    "a rotation of the read keys": [
      () => client.post("files/read-keys/rotate", undefined),
      { ...closed, variant: 200 },
    ],
    "another audience": [
      ({ file }) => client.patch(file.key, { audience: "others" }),
      { ...open, byAudience: 404 },
    ],
    "the deletion": [({ file }) => client.remove(file.key), closed],
  };

  for (const [what, [end, left]] of Object.entries(endings))
    it(`end on the other one with the next read: ${what}`, async () => {
      const rights = await createRights();
      // Twice, so that whatever it remembers is remembered.
      for (let round = 0; round < 2; round++) assert.deepEqual(await statusesThere(rights), open);
      await end(rights);
      assert.deepEqual(await statusesThere(rights), left);
    });

  it("are closed and opened on the other one with the next read", async () => {
    const file = await upload("public");
    const shrink = { key: file.key, width: 10, format: "webp", delivery: "public" };
    const variant = (await client.post("transforms/image", shrink)).body.url;
    for (const access of ["public", "private", "public", "private"]) {
      assert.equal((await client.patch(file.key, { access })).status, 200);
      const status = access === "public" ? 200 : 404;
      for (const url of [file.url, variant]) assert.equal((await readThere(url)).status, status, access);
    }
  });

  for (const maxUses of [1, 2])
    it(`count the first ranges that one client sends to both at once as one use of ${maxUses}`, async () => {
      const file = await upload("private");
      const url = await reader.linkTo(file.key, { maxUses });
      const pieces = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 === 0 ? read : readThere)(url, { headers: { range: `bytes=${index}-${index + 2}` } }),
        ),
      );
      assert.deepEqual(new Set(pieces.map(({ status }) => status)), new Set([206]));
      const others: number[] = [];
      for (let other = 0; other < maxUses; other++)
        others.push((await read(url, { headers: { "user-agent": `other ${other}` } })).status);
      assert.deepEqual(others, [...Array(maxUses - 1).fill(200), 403]);
    });

  it("give the one use of a link to one of a hundred readers of both", async () => {
    const file = await upload("private");
    const url = await reader.linkTo(file.key, { maxUses: 1 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? read(url) : readThere(url))),
    );
    const got = answers.filter(({ status }) => status === 200);
    assert.deepEqual(
      got.map(({ bytes }) => bytes),
      [picture],
    );
    assert.ok(answers.every(({ status }) => status === 200 || status === 403));
  });

  it("lie where their access says, though both change it at the same moment", async () => {
    const file = await upload("private");
    const hasRead = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const { deps } = second.app;
    /** Stands still once the file was read, before it is changed. */
    const transact: Deps["db"]["transact"] = (work, ...rest) =>
      deps.db.transact(
        (tx) =>
          work({
            ...tx,
            async get(...call) {
              const row = await tx.get(...call);
              hasRead.resolve();
              await goOn.promise;
              return row;
            },
          }),
        ...rest,
      );
    const halting = { ...deps, db: { ...deps.db, transact } };
    const scope = { projectId: tenant.projectId, environment: "live" } as const;
    const slow = updateFile(halting, scope, file.key, { access: "private" });
    await hasRead.promise;
    let isDone = false;
    const quick = client.patch(file.key, { access: "public" }).finally(() => {
      isDone = true;
    });
    await until(async () => isDone || Number((await first.app.deps.db.get(countWaiting, {}))?.count) > 0);
    goOn.resolve();
    await Promise.all([slow, quick]);
    const { access } = (await client.get(file.key)).body.file;
    const places: string[] = [];
    for await (const { key } of (first.app.deps.store as S3Store).imports.list())
      if (key.endsWith(file.key)) places.push(key.slice(0, -file.key.length));
    assert.deepEqual(places, [access === "private" ? "private/" : ""]);
  });
});

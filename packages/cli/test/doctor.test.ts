import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { redisMissing, startRedis } from "../../../test/support/redis.ts";
import { readConfig } from "../../server/src/config.ts";
import { statement } from "../../server/src/db/statement.ts";
import type { Check } from "../../server/src/ops/doctor/check.ts";
import { writeLog } from "../../server/src/projects/logs/queries.ts";
import { findLayers } from "../../server/src/serving/images/render/sandbox/find-layers.ts";
import { onAnyDatabase, startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUploadClient } from "../../server/test/support/upload-client.ts";
import { examineInstallation } from "../src/examine-installation.ts";
import { envOf, examine, runJson, runUpstow } from "./support/run-upstow.ts";

const recordMigration = statement((q, p: { id: string }) =>
  q.insertInto("migration").values({ id: p.id, applied_at: 0 }),
);
const forgetMigration = statement((q, p: { id: string }) => q.deleteFrom("migration").where("id", "=", p.id));
const breakIdentity = statement((q, p: { suffix: string }) =>
  q.updateTable("disk_store").set({ identity: sql<string>`identity || ${p.suffix}` }),
);
const deleteLogs = statement((q, p: { after: number }) =>
  q.deleteFrom("log").where("created_at", ">", p.after),
);

onAnyDatabase("doctor", (database) => {
  let app: TestApp;
  let env: Record<string, string>;
  /** Depends on the machine; the tests of confinement show what it means. */
  let isConfined: boolean;
  before(async () => {
    app = await startApp({ database });
    env = envOf(app);
    isConfined = (await findLayers()).layers.has("namespaces");
    await createUploadClient(app, app.owner.live).upload(Buffer.alloc(40_000));
  });
  after(() => app.close());

  /** The checks of one subject that are not well. */
  const complaints = async (name: string, more: Record<string, string> = {}) => {
    const checks = (await examine({ ...env, ...more })).filter(
      (check) => check.name === name && check.status !== "ok",
    );
    assert.ok(checks.every((check) => check.fix !== undefined && check.fix !== ""));
    return checks.map((check) => `${check.status}: ${check.message}`).join("\n");
  };

  it("finds nothing wrong with a running service, and says so in a table or JSON", async () => {
    const report = await runJson(["doctor"], env);
    assert.equal(report.ok, true);
    const expectOk = (check: Check) => assert.equal(check.status, "ok", JSON.stringify(check));
    report.checks.filter((check: Check) => isConfined || check.name !== "renderers").forEach(expectOk);
    const subjects = [
      "configuration",
      "data directory",
      "database",
      "secret",
      "clock",
      "storage",
      "renderers",
      "public URL",
    ];
    for (const name of subjects)
      assert.ok(report.checks.some((check: { name: string }) => check.name === name));
    const table = await runUpstow(["doctor"], env);
    assert.equal(table.code, 0);
    assert.match(table.stdout, /^✔ secret .*\n/m);
    assert.match(table.stdout, isConfined ? /No problems found\.\n$/ : /0 broken, \d+ with a warning\.\n$/);
  });

  it("says what holds renderers, and what they could get at", async () => {
    const [inForce, ...others] = (await examineInstallation(() => readConfig(env))).filter(
      (check) => check.name === "renderers",
    );
    assert.match(
      inForce?.message ?? "",
      /^confined by an empty environment, no inherited descriptors, resource limits/,
    );
    assert.equal(/namespaces \(bwrap\)/.test(inForce?.message ?? ""), isConfined);
    const told = others.map(({ status, message }) => `${status}: ${message}`).join("\n");
    for (const name of ["heif-convert", "pdftoppm", "ffmpeg", "ffprobe"])
      assert.match(told, new RegExp(`^ok: (${name} is not installed \\(optional|found \\S+/${name}: )`, "m"));
    if (isConfined) return assert.match(told, /^ok: a program started in their place could not access/m);
    assert.match(told, /^warning: Without namespaces/m);
    assert.ok(others.every(({ status, fix }) => status === "ok" || fix !== undefined));
  });

  it("fails with exit code 1 and a way to mend it when the secret is another one", async () => {
    const run = await runUpstow(["doctor", "--json"], { ...env, UPSTOW_SECRET: "another secret ".repeat(4) });
    assert.equal(run.code, 1);
    const report = JSON.parse(run.stdout);
    assert.equal(report.ok, false);
    const failed = report.checks.filter((check: { status: string }) => check.status === "failed");
    assert.deepEqual(
      failed.map((check: { name: string }) => check.name),
      ["secret", "public URL"],
    );
    assert.match(failed[0].fix, /UPSTOW_SECRET/);
    assert.match(failed[1].message, /Another installation responds/);
  });

  it("names the installation that answers, and never takes another one for it", async () => {
    const find = async (more: Record<string, string>) =>
      (await examine({ ...env, ...more })).find((check) => check.name === "public URL");
    assert.equal((await find({}))?.message, `the installation in ${app.dataDir} responds at ${app.url}`);
    const empty = "/nonexistent/upstow";
    const stranger = await find({ UPSTOW_DATA_DIR: empty });
    assert.equal(stranger?.status, "failed");
    assert.match(stranger?.message ?? "", /^Another installation responds at \S+, and \S+ contains none\.$/);
    const bucket = {
      UPSTOW_SECRET: "another secret ".repeat(4),
      UPSTOW_S3_BUCKET: "files",
      UPSTOW_S3_ENDPOINT: "http://127.0.0.1:1",
      UPSTOW_S3_ACCESS_KEY_ID: "id",
      UPSTOW_S3_SECRET_ACCESS_KEY: "key",
    };
    assert.equal((await find(bucket))?.status, "failed", "where files are in a bucket too");
  });

  it("sees open permissions, misspelt variables and a wrong value", async () => {
    await chmod(join(app.dataDir, "secret"), 0o644);
    assert.match(await complaints("secret"), /^warning: .*read by other users/);
    await chmod(join(app.dataDir, "secret"), 0o600);
    await chmod(app.dataDir, 0o755);
    assert.match(await complaints("data directory"), /^warning: Other users of this machine can enter/);
    await chmod(app.dataDir, 0o700);
    assert.match(await complaints("configuration", { UPSTOW_PROT: "1" }), /^warning: UPSTOW_PROT/);
    assert.match(await complaints("configuration", { UPSTOW_PORT: "x" }), /^failed: UPSTOW_PORT must be/);
  });

  it("sees tables of another version", async () => {
    const { db } = app.app.deps;
    await db.run(recordMigration, { id: "999-future" });
    assert.match(await complaints("database"), /^failed: .*newer version.*999-future/);
    await db.run(forgetMigration, { id: "999-future" });
    await db.run(forgetMigration, { id: "003-disk-store" });
    assert.match(await complaints("database"), /^warning: It lacks 003-disk-store/);
    await db.run(recordMigration, { id: "003-disk-store" });
    assert.equal(await complaints("database"), "");
  });

  it("sees records from the future, which tell of a clock that was set back", async () => {
    const { db } = app.app.deps;
    const later = Date.now() + 3_600_000;
    const entry = {
      projectId: app.owner.projectId,
      environment: "test",
      type: "key.created",
      message: "",
    } as const;
    await db.transact((tx) => writeLog(tx, later, entry));
    assert.match(await complaints("clock"), /^failed: .*there are records from/);
    await db.run(deleteLogs, { after: Date.now() });
    assert.equal(await complaints("clock"), "");
  });

  it("sees addresses that nobody, or somebody else, answers at", async () => {
    assert.match(
      await complaints("public URL", { UPSTOW_PUBLIC_URL: "http://127.0.0.1:1" }),
      /^warning: No response/,
    );
    assert.match(
      await complaints("public URL", { UPSTOW_PUBLIC_URL: "http://files.example.com" }),
      /^failed: .*plain http/,
    );
    const stranger = createServer((_request, response) => response.end("<h1>hello</h1>")).listen(
      0,
      "127.0.0.1",
    );
    try {
      await new Promise((resolve) => stranger.once("listening", resolve));
      const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
      assert.match(
        await complaints("public URL", { UPSTOW_PUBLIC_URL: url }),
        /^failed: Another program responds/,
      );
      assert.match(await complaints("CDN URL", { UPSTOW_CDN_URL: url }), /^failed: .*does not forward/);
    } finally {
      stranger.close();
    }
    assert.equal(
      await complaints("CDN URL", { UPSTOW_CDN_URL: app.url.replace("127.0.0.1", "localhost") }),
      "",
    );
  });

  it("sees files that are served from the dashboard's host", async () => {
    const shared = { UPSTOW_PUBLIC_URL: "https://files.example.invalid" };
    assert.match(
      await complaints("CDN URL", shared),
      /^warning: .*dashboard's host, files\.example\.invalid/,
    );
    const apart = { ...shared, UPSTOW_CDN_URL: "https://files.example-content.invalid" };
    assert.equal(await complaints("CDN URL", apart), "");
  });

  it("asks where a scraper would", async (t) => {
    const server = createServer((_request, response) => response.end("up 1\n")).listen(0, "127.0.0.1");
    t.after(() => server.close());
    await once(server, "listening");
    const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal(await complaints("metrics", { UPSTOW_METRICS_ADDRESS: at }), "");
    server.close();
    const missing = await complaints("metrics", { UPSTOW_METRICS_ADDRESS: at });
    assert.equal(missing, `warning: No response from http://${at}/metrics.`);
  });

  it("sees plain http that nobody could use", async () => {
    const plain = { UPSTOW_PUBLIC_URL: "http://files.example.invalid" };
    assert.match(await complaints("public URL", plain), /^failed: .*plain http/);
    const neighbours = { ...plain, UPSTOW_HTTP_FROM: "10.0.0.0/8" };
    assert.match(await complaints("public URL", neighbours), /^warning: No response/);
  });

  it("sees proxies that let everybody pretend to be anyone", async () => {
    assert.match(await complaints("trusted proxies", { UPSTOW_TRUSTED_PROXIES: "0.0.0.0/0" }), /^failed:/);
    assert.equal(await complaints("trusted proxies", { UPSTOW_TRUSTED_PROXIES: "10.0.0.0/8" }), "");
    const behind = { UPSTOW_PUBLIC_URL: "https://files.example.invalid" };
    assert.match(await complaints("trusted proxies", behind), /^warning: .*needs a proxy in front/);
  });

  it("sees a Redis that is away or lets nobody in, without showing its password", {
    skip: redisMissing,
  }, async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    assert.equal(await complaints("Redis", { UPSTOW_REDIS_URL: redis.url }), "");
    const stranger = redis.url.replace("redis://", "redis://nobody:hush@");
    assert.match(
      await complaints("Redis", { UPSTOW_REDIS_URL: stranger }),
      /^warning: (?!.*hush).*WRONGPASS/,
    );
    const away = await complaints("Redis", { UPSTOW_REDIS_URL: "redis://:hush@127.0.0.1:1" });
    assert.match(away, /^warning: (?!.*hush).*ECONNREFUSED/);
  });

  it("sees objects that lost their bytes, and a directory of another database", async () => {
    const { db } = app.app.deps;
    await db.run(breakIdentity, { suffix: "x" });
    assert.match(await complaints("storage"), /^failed: .*belongs to another database/);
    const identity = await db.all(
      statement((q, _: object) => q.selectFrom("disk_store").select("identity")),
      {},
    );
    await writeFile(join(app.dataDir, "objects", "identity"), identity[0]?.identity ?? "");
    assert.equal(await complaints("storage"), "");
    const blobs = join(app.dataDir, "objects", "blobs");
    for (const shard of await readdir(blobs)) await rm(join(blobs, shard), { recursive: true });
    assert.match(await complaints("storage"), /^failed: 1 of the newest 1 objects/);
  });
});

describe("doctor without a service", () => {
  it("makes nothing where nothing was started, and is not alarmed", async () => {
    const dataDir = "/nonexistent/upstow";
    const checks = await examine({ UPSTOW_DATA_DIR: dataDir, UPSTOW_PORT: "1" });
    assert.deepEqual(
      checks.filter((check) => check.status === "failed"),
      [],
    );
    assert.ok(checks.some((check) => check.message.includes("no database yet")));
  });

  it("misses no data directory where nothing is kept in one", async () => {
    const elsewhere = {
      UPSTOW_DATA_DIR: "/nonexistent/upstow",
      UPSTOW_PORT: "1",
      UPSTOW_DATABASE_URL: "postgres://u:hush@127.0.0.1:1/x",
      UPSTOW_S3_BUCKET: "files",
      UPSTOW_S3_ENDPOINT: "http://127.0.0.1:1",
      UPSTOW_S3_ACCESS_KEY_ID: "id",
      UPSTOW_S3_SECRET_ACCESS_KEY: "key",
    };
    const isMissed = async (env: Record<string, string>) => {
      const checks = await examine(env);
      return checks.some(({ name }) => name === "data directory");
    };
    assert.equal(await isMissed(elsewhere), true, "the secret is kept there");
    assert.equal(await isMissed({ ...elsewhere, UPSTOW_SECRET: "s".repeat(40) }), false);
  });

  it("sees a PostgreSQL that is away, without showing its password", async () => {
    const env = { UPSTOW_DATABASE_URL: "postgres://u:hush@127.0.0.1:1/x", UPSTOW_PORT: "1" };
    const checks = await examine(env);
    assert.ok(checks.some((check) => check.name === "database" && check.status === "failed"));
    assert.ok(!JSON.stringify(checks).includes("hush"));
  });

  it("is content with a restored directory that was not started yet", async () => {
    const app = await startApp({ database: "sqlite" });
    try {
      await app.app.close();
      await rm(join(app.dataDir, "objects", "tmp"), { recursive: true });
      const storage = (await examine(envOf(app))).filter((check) => check.name === "storage");
      assert.deepEqual(
        storage.map((check) => check.status),
        ["ok"],
      );
    } finally {
      await rm(app.dataDir, { recursive: true, force: true });
    }
  });

  it("sees a damaged database file", async () => {
    const app = await startApp({ database: "sqlite" });
    const { dataDir } = app;
    try {
      await app.app.close();
      await writeFile(join(dataDir, "upstow.db"), "this is no database".repeat(1000));
      const checks = await examine(envOf(app));
      assert.ok(checks.some((check) => check.name === "database" && check.status === "failed"));
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});

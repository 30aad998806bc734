import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { ConfigError, readConfig } from "../src/config.ts";
import { createSelfSigned, type SelfSigned } from "./support/self-signed.ts";
import { spawnMain, spawnServer } from "./support/spawn-server.ts";
import { uploadFile } from "./support/upload.ts";

const s3 = { UPSTOW_S3_BUCKET: "b", UPSTOW_S3_ACCESS_KEY_ID: "id", UPSTOW_S3_SECRET_ACCESS_KEY: "secret" };

describe("configuration", () => {
  let tls: SelfSigned;
  let otherTls: SelfSigned;
  let dir: string;
  let file: string;
  before(async () => {
    [tls, otherTls] = await Promise.all([createSelfSigned(), createSelfSigned()]);
    dir = await mkdtemp(join(tmpdir(), "upstow-config-"));
    file = join(dir, "file");
    await writeFile(file, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
  });
  after(() => Promise.all([tls.remove(), otherTls.remove(), rm(dir, { recursive: true })]));

  function expectRefused(name: string, env: Record<string, string>): void {
    assert.throws(
      () => readConfig(env),
      (error) => {
        assert.ok(error instanceof ConfigError, `${name}: ${error}`);
        assert.ok(error.message.startsWith(`${name} `), error.message);
        assert.ok(!error.message.includes("\n"), error.message);
        assert.ok(!error.message.includes("hunter2"), "a password is never repeated");
        return true;
      },
      JSON.stringify(env),
    );
  }

  it("has a default for everything", () => {
    const config = readConfig({});
    assert.deepEqual(
      [config.host, config.port, config.publicUrl, config.cdnUrl],
      ["localhost", 4000, "http://localhost:4000", "http://localhost:4000"],
    );
    assert.deepEqual(
      [config.databaseUrl, config.redisUrl, config.s3, config.secrets, config.tls],
      Array(5).fill(null),
    );
    assert.equal(config.dataDir, join(process.cwd(), "data"));
    assert.equal(
      JSON.stringify(readConfig({ UPSTOW_PORT: "  ", UPSTOW_SECRET: "" })),
      JSON.stringify(config),
    );
  });

  it("reads every variable", () => {
    const config = readConfig({
      ...s3,
      UPSTOW_HOST: "::1",
      UPSTOW_PORT: " 8443 ",
      UPSTOW_DATA_DIR: join(dir, "to/be/made"),
      UPSTOW_CDN_URL: "https://cdn.example.com/files/",
      UPSTOW_DATABASE_URL: "postgres://u:p@h/db",
      UPSTOW_S3_ENDPOINT: "http://127.0.0.1:9000",
      UPSTOW_REDIS_URL: "rediss://h:6380/1",
      UPSTOW_SECRET: `${"a".repeat(32)}, ${"b".repeat(40)}`,
      UPSTOW_TLS_CERT: tls.certPath,
      UPSTOW_TLS_KEY: tls.keyPath,
      UPSTOW_ALLOWED_ORIGINS: "https://a.example, http://localhost:3000",
      UPSTOW_LOG_LEVEL: "silent",
      UPSTOW_URL: "http://localhost:4000",
      UPSTOW_API_KEY: "svc_live_x",
      UPSTOW_PROT: "typo",
    });
    assert.equal(config.publicUrl, "https://[::1]:8443");
    assert.equal(config.cdnUrl, "https://cdn.example.com/files");
    assert.equal(config.dataDir, join(dir, "to/be/made"));
    assert.deepEqual(config.s3, {
      bucket: "b",
      endpoint: "http://127.0.0.1:9000",
      publicEndpoint: null,
      region: "us-east-1",
      accessKeyId: "id",
      secretAccessKey: "secret",
      forcePathStyle: true,
      prefix: "upstow/",
      delivery: "stream",
    });
    assert.deepEqual(config.secrets, ["a".repeat(32), "b".repeat(40)]);
    assert.deepEqual(config.allowedOrigins, ["https://a.example", "http://localhost:3000"]);
    assert.deepEqual(config.unknownVariables, ["UPSTOW_PROT"]);
  });

  it("takes any of the rate limits, and keeps the others", () => {
    const limits = (value: string) => readConfig({ UPSTOW_RATE_LIMITS: value }).rateLimits;
    assert.deepEqual(readConfig({}).rateLimits, { upload: 30, transform: 120, other: 10 });
    assert.deepEqual(limits("upload=600"), { upload: 600, transform: 120, other: 10 });
    assert.deepEqual(limits(" other = 5 , transform=7 "), { upload: 30, transform: 7, other: 5 });
    assert.deepEqual(limits("off"), { upload: null, transform: null, other: null });
  });

  it("counts loopback connections only where the limit was set", () => {
    const limitOf = (value: string) => readConfig({ UPSTOW_CONNECTIONS_PER_ADDRESS: value }).connectionLimit;
    assert.deepEqual(limitOf(""), { perAddress: 512, countsLoopback: false });
    assert.deepEqual(limitOf("512"), { perAddress: 512, countsLoopback: true });
    assert.deepEqual(limitOf("0"), { perAddress: 0, countsLoopback: true });
  });

  it("takes the virus scanner at a port or at a socket", () => {
    const clamd = (value: string, max = "") =>
      readConfig({ UPSTOW_CLAMD: value, UPSTOW_CLAMD_MAX_BYTES: max }).clamd;
    const maxBytes = 100 * MB;
    assert.deepEqual(clamd("tcp://127.0.0.1:3311"), { address: { host: "127.0.0.1", port: 3311 }, maxBytes });
    assert.deepEqual(clamd("tcp://[::1]"), { address: { host: "::1", port: 3310 }, maxBytes });
    assert.deepEqual(clamd("/run/clamd.sock", "5"), { address: { path: "/run/clamd.sock" }, maxBytes: 5 });
    assert.equal(clamd(""), null);
    for (const wrong of ["127.0.0.1:3310", "clamd.sock", "http://a:1", "tcp://a:1/b", "tcp://u@a:1"])
      assert.throws(() => clamd(wrong), { message: /^UPSTOW_CLAMD must be/ });
    assert.throws(() => clamd("", "5"), { message: /^UPSTOW_CLAMD must be set/ });
  });

  it("refuses a wrong value in one line that names the variable", () => {
    const url = ["not a url", "ftp://h", "//h", "https://h?x=1", "https://h#x", "https://user:hunter2@h"];
    const cidrs = ["10.0.0.0/33", "localhost", "10.0.0.1-10.0.0.9", "10.0.0.0/", "::/129", "a\nb"];
    const wrong: Record<string, string[]> = {
      UPSTOW_HOST: ["http://localhost", "local host", "host:80", "-x", "a/b", "ä"],
      UPSTOW_PORT: ["-1", "65536", "4e3", "http", "80.5", "0x50", "4000 4001"],
      UPSTOW_DATA_DIR: [file, join(file, "below"), "/proc/to-be-made"],
      UPSTOW_PUBLIC_URL: url,
      UPSTOW_CDN_URL: url,
      UPSTOW_DATABASE_URL: [
        "mysql://u:hunter2@h/db",
        "postgres",
        "u:hunter2@h",
        "postgres//h",
        "postgres://u:hunter2%@h/db",
      ],
      UPSTOW_REDIS_URL: [
        "http://:hunter2@h",
        "localhost:6379",
        "redis:",
        "redis://h/db",
        "redis://:hunter2%@h",
      ],
      UPSTOW_S3_BUCKET: ["a b", "a/b", "b?x", "s3://b"],
      UPSTOW_S3_ACCESS_KEY_ID: ["…", "hunter2 x", "hunter2ä"],
      UPSTOW_S3_SECRET_ACCESS_KEY: ["…", "hunter2 x", "hunter2\nx"],
      UPSTOW_S3_REGION: ["eu west", "eu/1", "ä"],
      UPSTOW_S3_PUBLIC_ENDPOINT: url,
      UPSTOW_S3_PREFIX: ["a//b", "../up", "a/../b", "a b", "ä", "x".repeat(101)],
      UPSTOW_S3_DELIVERY: ["cdn", "Stream", "proxy"],
      UPSTOW_SECRET: ["hunter2", `${"a".repeat(32)},hunter2`, `${"a".repeat(32)},`],
      UPSTOW_TRUSTED_PROXIES: cidrs,
      UPSTOW_WEBHOOK_ALLOW_CIDRS: cidrs,
      UPSTOW_STORAGE_ALLOW_CIDRS: cidrs,
      UPSTOW_CONNECTIONS_PER_ADDRESS: ["-1", "1.5", "many", "off", "1000001"],
      UPSTOW_LOG_RETENTION_DAYS: ["0", "-1", "1.5", "off", "36501"],
      UPSTOW_WEBHOOK_RETRY_BASE_MS: ["0", "-1", "1.5", "12s", "3600001"],
      UPSTOW_ALLOWED_ORIGINS: [
        "*",
        "example.com",
        "https://a.example/",
        "https://a.example/path",
        "https://a,,",
      ],
      UPSTOW_LOG_LEVEL: ["verbose", "INFO", "1"],
      UPSTOW_RATE_LIMITS: [
        "on",
        "OFF",
        "30",
        "upload",
        "upload=",
        "upload=0",
        "upload=-1",
        "upload=1.5",
        "upload=1e3",
        "uploads=30",
        "upload=30,upload=31",
        "upload=30,",
        "off,upload=30",
        "other=2000000000",
      ],
      UPSTOW_FIRST_START_KEYS: ["log", "true"],
      UPSTOW_WELCOME_UPLOADS: ["yes", "true"],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) expectRefused(name, { [name]: value });
    }
  });

  it("refuses storage settings that are not whole", () => {
    for (const name of ["UPSTOW_S3_ACCESS_KEY_ID", "UPSTOW_S3_SECRET_ACCESS_KEY"] as const) {
      expectRefused(name, { ...s3, [name]: "" });
      expectRefused("UPSTOW_S3_BUCKET", { [name]: "x" });
    }
    expectRefused("UPSTOW_S3_BUCKET", { UPSTOW_S3_ENDPOINT: "https://h" });
    expectRefused("UPSTOW_S3_ENDPOINT", { ...s3, UPSTOW_S3_ENDPOINT: "h:9000" });
    expectRefused("UPSTOW_S3_FORCE_PATH_STYLE", { ...s3, UPSTOW_S3_FORCE_PATH_STYLE: "maybe" });
    const hostStyle = { ...s3, UPSTOW_S3_FORCE_PATH_STYLE: "false" };
    for (const name of ["UPSTOW_S3_ENDPOINT", "UPSTOW_S3_PUBLIC_ENDPOINT"]) {
      for (const address of ["http://127.0.0.1:9000", "http://[::1]:9000"])
        expectRefused("UPSTOW_S3_FORCE_PATH_STYLE", { ...hostStyle, [name]: address });
      assert.equal(readConfig({ ...hostStyle, [name]: "https://s3.example.com" }).s3?.forcePathStyle, false);
    }
  });

  it("refuses certificates that are missing, broken, halved or of another key", () => {
    const good = { UPSTOW_TLS_CERT: tls.certPath, UPSTOW_TLS_KEY: tls.keyPath };
    expectRefused("UPSTOW_TLS_CERT", { UPSTOW_TLS_KEY: tls.keyPath });
    expectRefused("UPSTOW_TLS_KEY", { UPSTOW_TLS_CERT: tls.certPath });
    for (const path of [join(dir, "none"), dir, file, tls.keyPath]) {
      expectRefused("UPSTOW_TLS_CERT", { ...good, UPSTOW_TLS_CERT: path });
    }
    for (const path of [join(dir, "none"), dir, file, tls.certPath, otherTls.keyPath]) {
      expectRefused("UPSTOW_TLS_KEY", { ...good, UPSTOW_TLS_KEY: path });
    }
  });
});

it("takes any free port for 0, and its URLs bear it", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-start-"));
  const server = await spawnServer({ UPSTOW_DATA_DIR: dataDir, UPSTOW_PORT: "0" });
  t.after(async () => {
    server.process.kill("SIGKILL");
    await server.ended;
    await rm(dataDir, { recursive: true });
  });
  const { url } = await uploadFile(server, "hello", { key: server.keys.live });
  assert.equal(new URL(url).origin, server.url);
  assert.equal(await (await fetch(url)).text(), "hello");
});

describe("a start that cannot work", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "upstow-start-"));
  });
  after(() => rm(dataDir, { recursive: true }));

  async function failToStart(env: Record<string, string>): Promise<string> {
    const child = spawnMain({ UPSTOW_DATA_DIR: dataDir, UPSTOW_PORT: "0", ...env });
    let [stdout, stderr] = ["", ""];
    child.stdout?.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const [code] = await once(child, "close");
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /^upstow: [^\n]+\n$/, "one line");
    return stderr;
  }

  it("ends with exit code 1 and one line on stderr", async () => {
    assert.match(await failToStart({ UPSTOW_PORT: "port" }), /UPSTOW_PORT/);
    assert.match(
      await failToStart({ UPSTOW_DATABASE_URL: "mysql://u:hunter2@h" }),
      /UPSTOW_DATABASE_URL(?!.*hunter2)/,
    );
  });

  it("says so when the database file is none", async (t) => {
    const damaged = await mkdtemp(join(tmpdir(), "upstow-start-"));
    t.after(() => rm(damaged, { recursive: true }));
    await writeFile(join(damaged, "upstow.db"), randomBytes(5000));
    assert.match(
      await failToStart({ UPSTOW_DATA_DIR: damaged }),
      /database file is damaged.*UPSTOW_DATA_DIR/,
    );
  });

  it("says so when the secret is not the installation's, and when the port is taken", async (t) => {
    const other = await spawnServer({ UPSTOW_DATA_DIR: dataDir });
    t.after(() => other.process.kill("SIGKILL"));
    const elsewhere = await mkdtemp(join(tmpdir(), "upstow-start-"));
    t.after(() => rm(elsewhere, { recursive: true }));
    const { port } = new URL(other.url);
    assert.match(await failToStart({ UPSTOW_PORT: port, UPSTOW_DATA_DIR: elsewhere }), /UPSTOW_PORT/);
    // Nothing was made that nobody has seen.
    const second = await spawnServer({ UPSTOW_DATA_DIR: elsewhere });
    t.after(() => second.process.kill("SIGKILL"));
    assert.match(second.keys.live, /^svc_live_/);
    other.process.kill("SIGTERM");
    assert.equal(await other.ended, 0);
    assert.match(await failToStart({ UPSTOW_SECRET: "x".repeat(32) }), /UPSTOW_SECRET/);
    await writeFile(join(dataDir, "secret"), "y".repeat(64));
    assert.match(
      await failToStart({}),
      /UPSTOW_SECRET .*set it to that secret.*the file secret in UPSTOW_DATA_DIR/,
    );
  });

  it("says so when the secret's file is empty, or the address is no address of this machine", async (t) => {
    const emptied = await mkdtemp(join(tmpdir(), "upstow-start-"));
    t.after(() => rm(emptied, { recursive: true }));
    await writeFile(join(emptied, "secret"), "\n");
    assert.match(
      await failToStart({ UPSTOW_DATA_DIR: emptied }),
      /no longer contains the installation's secret/,
    );
    assert.match(await failToStart({ UPSTOW_HOST: "fe80::1" }), /UPSTOW_HOST fe80::1/);
  });
});

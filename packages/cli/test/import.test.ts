import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { createSdkClient, createTestBucket, type S3Server } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import { MB } from "../../sdk/test/support/start-service.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { type ForeignStorage, startForeignStorage } from "./support/foreign-storage.ts";
import { readAll, runJson, runUpstow } from "./support/run-upstow.ts";

interface Listed {
  name: string;
  type: string;
  status: string;
  url: string;
  metadata: Record<string, unknown>;
}

describe("upstow import", () => {
  let app: TestApp;
  let home: string;
  let env: Record<string, string>;
  let projectId: string;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    home = await mkdtemp(join(tmpdir(), "upstow-import-"));
  });
  beforeEach(async () => {
    const { live, projectId: id } = await app.createTenant("enterprise");
    projectId = id;
    env = { HOME: home, UPSTOW_URL: app.url, UPSTOW_API_KEY: live };
  });
  after(async () => {
    await app.close();
    await rm(home, { recursive: true });
  });

  async function listFiles(): Promise<Listed[]> {
    const { body } = await app.call("GET", "files?include=metadata", { key: env["UPSTOW_API_KEY"] ?? "" });
    return body.files.sort((a: Listed, b: Listed) => (a.name < b.name ? -1 : 1));
  }

  it("copies a folder once, and later what is new or has changed", async () => {
    const folder = join(home, "photos");
    await mkdir(join(folder, "2026"), { recursive: true });
    await writeFile(join(folder, "a.txt"), "one");
    await writeFile(join(folder, "2026/b.txt"), "two");
    await writeFile(join(folder, ".gitkeep"), "");
    await symlink("a.txt", join(folder, "link"));

    const dry = await runUpstow(["import", "folder", folder, "--dry-run"], env);
    assert.equal(dry.stdout, "Would import 2 files, 6 B. Left out: 2 files.\n");
    assert.match(
      dry.stderr,
      /^- photos\/\.gitkeep {2}left out: the file is empty\n- photos\/link {2}left out: a link\n/,
    );
    assert.match(dry.stderr, /^\+ photos\/a\.txt {2}3 B$/m);
    assert.deepEqual(await listFiles(), []);

    const first = await runJson(["import", "folder", folder, "--metadata", '{"team":"web"}'], env);
    assert.deepEqual(first.imported.map(({ source }: { source: string }) => source).sort(), [
      "photos/2026/b.txt",
      "photos/a.txt",
    ]);
    const { importedVersion: _, ...metadata } = (await listFiles())[0]?.metadata ?? {};
    assert.deepEqual(metadata, {
      team: "web",
      importedFrom: "folder:photos",
      importedId: "photos/2026/b.txt",
    });

    const again = await runUpstow(["import", "folder", folder], env);
    assert.equal(again.stdout, "Imported 0 files, 0 B. Imported before: 2 files. Left out: 2 files.\n");
    await writeFile(join(folder, "a.txt"), "changed");
    const map = join(home, "map.tsv");
    const third = await runJson(["import", "folder", folder, "--map", map], env);
    assert.deepEqual([third.imported.length, third.before.length], [1, 1]);
    assert.equal((await listFiles()).length, 3);
    const [line = ""] = (await readFile(map, "utf8")).split("\n").slice(1);
    const [source, url = ""] = line.split("\t");
    assert.equal(source, "photos/a.txt");
    assert.equal((await readAll(url)).bytes.toString(), "changed");
  });

  it("keeps files private where the route is", async () => {
    const key = env["UPSTOW_API_KEY"] ?? "";
    const body = { slug: "vault", access: "private" };
    await app.call("POST", `projects/${projectId}/routers`, { key, body });
    const folder = join(home, "contracts");
    await mkdir(folder);
    await writeFile(join(folder, "a.txt"), "secret");
    const { imported } = await runJson(["import", "folder", folder, "--route", "vault"], env);
    assert.equal((await readAll(imported[0].url)).status, 404);
    const [link] = (await runJson(["files", "link", imported[0].key], env)).links;
    assert.equal((await readAll(link.url)).bytes.toString(), "secret");
  });

  it("stops where a hundred files in a row failed", async () => {
    const folder = join(home, "many");
    await mkdir(folder);
    for (let i = 0; i < 120; i++) await writeFile(join(folder, `${i}.txt`), `file ${i}`);
    const run = await runUpstow(["import", "folder", folder, "--route", "missing"], env);
    assert.equal(run.code, 1);
    assert.match(run.stdout, /^Imported 0 of 120 files\. Correct the errors shown above/);
    assert.match(run.stderr, /^Stopped: 100 files in a row failed,/m);
    assert.equal(run.stderr.match(/^✖ /gm)?.length, 100);
  });

  it("fails where there is nothing", async () => {
    const folder = join(home, "nothing");
    await mkdir(folder);
    const run = await runUpstow(["import", "folder", folder], env);
    assert.deepEqual([run.code, run.stdout], [1, "Nothing to import.\n"]);
  });

  describe("from a service of others", () => {
    let foreign: ForeignStorage;
    before(async () => {
      foreign = await startForeignStorage();
    });
    after(() => foreign.stop());

    it("copies an UploadThing app: private files, pages, broken connections, and what failed the next time", async () => {
      const large = Buffer.alloc(11 * MB, "large ");
      foreign.add({
        id: "k1",
        name: "cat.png",
        bytes: Buffer.from("a cat"),
        type: "image/png",
        customId: "42",
      });
      foreign.add({
        id: "k2",
        name: "secret.pdf",
        bytes: Buffer.from("private"),
        type: "application/pdf",
        isPrivate: true,
      });
      foreign.add({ id: "k3", name: "film.mp4", bytes: large, type: "video/mp4", breaksAt: 7 * MB });
      foreign.add({ id: "k4", name: "half.bin", bytes: Buffer.from("half"), status: "Uploading" });
      foreign.add({ id: "k5", name: "empty", bytes: Buffer.alloc(0) });
      foreign.add({
        id: "k6",
        name: "gone.txt",
        bytes: Buffer.from("back again"),
        type: "text/plain",
        isAway: true,
      });
      foreign.add({ id: "k7", name: "talk.mp4", bytes: large, breaksAt: 7 * MB, isAway: true });
      foreign.limitOnce();
      const token = { apiKey: foreign.apiKey, appId: "app1", regions: ["sea1"] };
      const from = {
        ...env,
        UPLOADTHING_TOKEN: Buffer.from(JSON.stringify(token)).toString("base64"),
        UPLOADTHING_API_URL: foreign.url,
        UPLOADTHING_UFS_HOST: new URL(foreign.url).host.replace("127.0.0.1", "localhost"),
        UPLOADTHING_UFS_APP_ID_LOCATION: "path",
      };
      const first = await runUpstow(["import", "uploadthing"], from);
      assert.equal(first.code, 1);
      assert.match(first.stdout, /^Imported 3 of 5 files\. Run the same command again to retry the others\./);
      assert.match(first.stdout, /Left out: 2 files\.$/m);
      assert.match(first.stderr, /^- k4 {2}left out: UploadThing says "Uploading"$/m);
      assert.match(first.stderr, /^- k5 {2}left out: the file is empty$/m);
      assert.match(first.stderr, /^✖ k6 {2}127\.0\.0\.1:\d+ responded with 410$/m);
      const [cat, film, secret, half] = await listFiles();
      assert.deepEqual([cat?.name, cat?.type, cat?.metadata["customId"]], ["cat.png", "image/png", "42"]);
      assert.deepEqual([secret?.name, secret?.type], ["secret.pdf", "application/pdf"]);
      assert.ok((await readAll(film?.url ?? "")).bytes.equals(large));
      assert.deepEqual([half?.name, half?.status], ["talk.mp4", "UPLOADING"]);

      foreign.bringBack("k6");
      foreign.bringBack("k7");
      const second = await runUpstow(["import", "uploadthing"], from);
      assert.match(
        second.stdout,
        /^Imported 2 files, 11\.0 MB\. Imported before: 3 files\. Left out: 2 files\.$/m,
      );
      assert.equal(second.code, 0);
      const all = await listFiles();
      assert.deepEqual(
        all.map(({ name, status }) => `${name} ${status}`),
        ["cat.png", "film.mp4", "gone.txt", "secret.pdf", "talk.mp4"].map((name) => `${name} UPLOADED`),
        "the parts of the first run were used",
      );
      assert.ok((await readAll(all[4]?.url ?? "")).bytes.equals(large));
    });

    it("says what is wrong with a token", async () => {
      const run = await runUpstow(["import", "uploadthing"], { ...env, UPLOADTHING_TOKEN: "sk_live_1" });
      assert.match(run.stderr, /^upstow: UPLOADTHING_TOKEN is not an UploadThing 7 token\./);
      const none = await runUpstow(["import", "uploadthing"], env);
      assert.match(none.stderr, /^upstow: UPLOADTHING_TOKEN is missing: set it in the environment\.$/m);
    });

    it("copies a bucket of Supabase with its folders, and leaves placeholders out", async () => {
      const add = (id: string, text: string, type = "text/plain") =>
        foreign.addObject("avatars", { id, bytes: Buffer.from(text), type });
      add("me.png", "me", "image/png");
      add("trips/elbe/1 ü.txt", "one");
      add("trips/elbe/2.txt", "two");
      add("trips/.emptyFolderPlaceholder", "");
      const from = { ...env, SUPABASE_URL: foreign.url, SUPABASE_SERVICE_ROLE_KEY: foreign.apiKey };
      const run = await runUpstow(["import", "supabase", "avatars"], from);
      assert.equal(run.code, 0, run.stderr);
      assert.equal(run.stdout, "Imported 3 files, 8 B. Left out: 1 file.\n");
      assert.deepEqual(
        (await listFiles()).map(({ name, type }) => [name, type]),
        [
          ["me.png", "image/png"],
          ["trips/elbe/1 ü.txt", "text/plain"],
          ["trips/elbe/2.txt", "text/plain"],
        ],
      );
      add("trips/elbe/2.txt", "changed");
      const again = await runJson(["import", "supabase", "avatars", "--prefix", "trips"], from);
      assert.deepEqual([again.imported.length, again.before.length], [1, 1]);
    });
  });

  it("sends the token of temporary credentials", async () => {
    const tokens = new Set<string | string[] | undefined>();
    const bucket = createServer(({ headers }, response) => {
      tokens.add(headers["x-amz-security-token"]);
      response.end("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    }).listen(0);
    await once(bucket, "listening");
    try {
      const from = {
        ...{
          ...env,
          AWS_ACCESS_KEY_ID: "ASIA1",
          AWS_SECRET_ACCESS_KEY: "secret",
          AWS_SESSION_TOKEN: "a+token==",
        },
        AWS_ENDPOINT_URL: `http://localhost:${(bucket.address() as AddressInfo).port}`,
      };
      const run = await runUpstow(["import", "s3", "photos"], from);
      assert.match(run.stdout, /nothing/i, run.stderr);
      assert.deepEqual([...tokens], ["a+token=="]);
    } finally {
      bucket.close();
    }
  });

  describe("from a bucket", { skip: swiftMissing }, () => {
    let server: S3Server;
    before(async () => {
      server = await startSwift();
    });
    after(() => server.stop());

    it("copies objects with their types, in one piece and in parts", async () => {
      const bucket = await createTestBucket(server);
      const client = createSdkClient(server);
      const put = (Key: string, Body: Buffer, ContentType: string) =>
        client.send(new PutObjectCommand({ Bucket: bucket, Key, Body, ContentType }));
      const large = Buffer.alloc(12 * MB, "bucket ");
      await put("docs/a b+c.pdf", Buffer.from("pdf"), "application/pdf");
      await put("docs/large", large, "video/webm");
      await put("docs/folder/", Buffer.alloc(0), "application/x-directory");
      await put("other.txt", Buffer.from("other"), "text/plain");
      client.destroy();
      const from = {
        ...env,
        AWS_ACCESS_KEY_ID: server.accessKeyId,
        AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
        AWS_REGION: server.region,
        AWS_ENDPOINT_URL: server.endpoint,
      };
      const run = await runUpstow(["import", "s3", bucket, "--prefix", "docs/"], from);
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stderr, /^- docs\/folder\/ {2}left out: a folder marker$/m);
      const [small, film] = await listFiles();
      assert.deepEqual([small?.name, small?.type], ["docs/a b+c.pdf", "application/pdf"]);
      assert.equal(film?.type, "video/webm");
      assert.ok((await readAll(film?.url ?? "")).bytes.equals(large));
      const all = await runUpstow(["import", "s3", bucket], from);
      assert.match(all.stdout, /^Imported 1 file, 5 B\. Imported before: 2 files\. Left out: 1 file\.$/m);
    });
  });
});

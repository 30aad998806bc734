import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { uploadFile } from "../../server/test/support/upload.ts";
import { runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

describe("the commands of users", () => {
  let app: TestApp;
  let folder: string;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    folder = await mkdtemp(join(tmpdir(), "upstow-user-"));
    env = { HOME: folder, UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
    await mkdir(join(folder, "photos/2026"), { recursive: true });
    const picture = sharp({ create: { width: 90, height: 60, channels: 3, background: "teal" } });
    await writeFile(join(folder, "photos/2026/teal.png"), await picture.png().toBuffer());
    await writeFile(join(folder, "photos/empty.txt"), "");
    await writeFile(join(folder, "photos/note.txt"), "a note");
    await writeFile(join(folder, "größe.txt"), "alone");
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  const listKeys = async (): Promise<string[]> =>
    (await runJson(["files", "ls", "--all"], env)).files.map((file: { key: string }) => file.key);

  it("upload files and folders, and name what is left out", async () => {
    await symlink("note.txt", join(folder, "photos/link.txt"));
    const paths = [join(folder, "photos"), join(folder, "größe.txt")];
    const run = await runUpstow(["upload", ...paths, "--metadata", '{"trip":"Elbe"}', "--json"], env);
    const { files, failures, leftOut } = JSON.parse(run.stdout);
    assert.equal(run.code, 0);
    assert.deepEqual(
      files.map((file: { name: string; metadata: object }) => [file.name, file.metadata]).sort(),
      [
        ["größe.txt", { trip: "Elbe" }],
        ["photos/2026/teal.png", { trip: "Elbe" }],
        ["photos/note.txt", { trip: "Elbe" }],
      ],
    );
    assert.deepEqual(failures, []);
    assert.deepEqual(leftOut, [
      { path: join(folder, "photos/empty.txt"), name: "photos/empty.txt", reason: "empty" },
      { path: join(folder, "photos/link.txt"), name: "photos/link.txt", reason: "link" },
    ]);
    const again = await runUpstow(["upload", ...paths, "--metadata", '{"trip":"Elbe"}'], env);
    assert.match(again.stdout, /^Uploaded 3 files, .*B\. Left out: 1 empty file, 1 link\.$/m);
    assert.match(again.stderr, /^- photos\/empty\.txt {2}left out: the file is empty$/m);
    assert.match(again.stderr, /^- photos\/link\.txt {2}left out: links are not followed; pass it/m);
    const named = await runUpstow(["upload", join(folder, "photos/link.txt")], env);
    assert.equal(named.stdout, "Uploaded 1 file, 6 B.\n");
  });

  it("fail where nothing is left to upload", async () => {
    const run = await runUpstow(["upload", join(folder, "photos/empty.txt")], env);
    assert.equal(run.code, 1);
    assert.equal(run.stdout, "Nothing to upload. Left out: 1 empty file.\n");
  });

  it("tell people what they do", async () => {
    const run = await runUpstow(["upload", join(folder, "größe.txt")], env);
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stderr, /^✔ größe\.txt {2}http/);
    assert.equal(run.stdout, "Uploaded 1 file, 5 B.\n");
    const list = await runUpstow(["files", "ls", "--limit", "1"], env);
    assert.match(list.stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d {2}uploaded {2}5 B {2}\S+\/größe\.txt\n$/);
  });

  it("let no file name steer the terminal", async () => {
    const path = join(folder, "red\x1b[31m\nline.txt");
    await writeFile(path, "x");
    const sent = await runUpstow(["upload", path], env);
    assert.match(sent.stderr, /^✔ red\ufffd\[31m line\.txt {2}http\S+\n$/);
    const [key = ""] = await listKeys();
    const got = await runUpstow(["files", "get", key, "--output", join(folder, "\x1b[2J.txt")], env);
    assert.equal(got.code, 0, got.stderr);
    assert.ok(!got.stdout.includes("\x1b"));
  });

  it("let no name of a key or project steer it either", async () => {
    const { live, projectId } = await app.createTenant("pro");
    const name = "red\x1b[31m\nline";
    const create = (path: string) => app.call("POST", path, { key: live, body: { name } });
    const { key } = (await create(`projects/${projectId}/keys`)).body;
    await create("projects");
    const own = { ...env, UPSTOW_API_KEY: live };
    const listed = await runUpstow(["keys", "ls", "--project", projectId], own);
    const undecided = await runUpstow(["keys", "ls"], own);
    const revoked = await runUpstow(["key", "revoke", key.id], { UPSTOW_DATA_DIR: app.dataDir });
    for (const said of [listed.stdout, undecided.stderr, revoked.stdout]) {
      assert.match(said, /red\ufffd\[31m line/);
      assert.ok(!said.includes("\x1b"), said);
    }
  });

  it("refuse what cannot be meant", async () => {
    const missing = await runFailing(["upload", join(folder, "nothing.txt")], env);
    assert.deepEqual([missing.exitCode, missing.code], [1, "NOT_FOUND"]);
    const device = await runFailing(["upload", "/dev/zero"], env);
    assert.match(device.message, /^\/dev\/zero is neither a file nor a folder/);
    const stranger = await runFailing(["files", "ls"], { ...env, UPSTOW_API_KEY: "svc_live_wrong" });
    assert.deepEqual([stranger.exitCode, stranger.code], [1, "UNAUTHORIZED"]);
    assert.match(stranger.message, /upstow login/);
    const { keys } = await runJson(["keys", "ls"], env);
    const live = keys.find((key: { type: string }) => key.type === "live").id;
    const byTest = await runFailing(["keys", "revoke", live], { ...env, UPSTOW_API_KEY: app.owner.test });
    assert.deepEqual([byTest.exitCode, byTest.code], [1, "UNAUTHORIZED"]);
    assert.match(byTest.message, /A test key can revoke only test keys\. Send a live key\.$/);
    const otherType = await runFailing(["keys", "create", "--type", "test"], env);
    assert.match(otherType.message, /^A live key can only create live keys\./);
    for (const [args, message] of [
      [["upload"], /<files> is missing/],
      [["upload", "a", "--metadata", "[1]"], /--metadata must be a JSON object/],
      [["files", "ls", "--limit", "0"], /--limit must be/],
      [["transform", "x", "--height", "9000"], /--height must be a whole number from 1 to 4096/],
      [["transform", "x"], /--width, --height or both/],
      [["files", "get", "x", "--output", "-"], /--output must be a path/],
    ] as [string[], RegExp][]) {
      const failure = await runFailing(args, env);
      assert.equal(failure.exitCode, 2, args.join(" "));
      assert.match(failure.message, message);
    }
  });

  it("list files by filters, and name them by id", async () => {
    const { live } = await app.createTenant("pro");
    const own = { ...env, UPSTOW_API_KEY: live };
    const files: Record<string, { id: string; key: string; createdAt: string }> = {};
    for (const [name, type, metadata] of [
      ["Ärger.txt", "text/plain", { user: "42", "a=b": 1 }],
      ["photo.png", "image/png", { user: 42 }],
    ] as const)
      files[name] = await uploadFile(app, "x", { key: live, name, type, metadata });
    const { "Ärger.txt": text, "photo.png": photo } = files;
    const find = async (...args: string[]) =>
      (await runJson(["files", "ls", ...args], own)).files.map((file: { id: string }) => file.id);
    assert.deepEqual(await find("--type", "image/*"), [photo?.id]);
    assert.deepEqual(await find("--access", "private"), []);
    assert.deepEqual(await find("--name", "ärGER"), [text?.id]);
    assert.deepEqual(await find("--metadata", "user=42"), [photo?.id, text?.id]);
    assert.deepEqual(await find("--metadata", "user=42", "--metadata", "a=b=1"), []);
    assert.deepEqual(await find("--status", "Failed"), []);
    assert.deepEqual(await find("--status", "uploaded", "--route", "default", "--limit", "1"), [photo?.id]);
    assert.deepEqual(await find("--prefix", `default/${text?.id}`), [text?.id]);
    assert.deepEqual(await find("--since", "2020-01-01", "--until", text?.createdAt ?? ""), []);
    const nothing = await runUpstow(["files", "ls", "--name", "nothing"], own);
    assert.equal(nothing.stdout, "No files.\n");
    const got = await runJson(["files", "get", text?.id ?? "", "--output", join(folder, "by-id.txt")], own);
    assert.equal(got.key, text?.key);
    const into = await mkdtemp(join(folder, "found-"));
    const both = await runJson(["files", "get", "--metadata", "user=42", "--output", into], own);
    assert.deepEqual(both.failures, []);
    assert.deepEqual((await readdir(into)).sort(), ["photo.png", "Ärger.txt"]);
    const dry = await runJson(["files", "rm", "--type", "image/*", "--dry-run"], own);
    assert.deepEqual([dry.keys, dry.deleted], [[photo?.key], 0]);
    assert.equal(
      (await runFailing(["files", "rm", "--type", "image/*"], own)).exitCode,
      2,
      "nobody said yes",
    );
    assert.equal((await runJson(["files", "rm", "--type", "image/*", "--yes"], own)).deleted, 1);
    assert.equal((await runJson(["files", "rm", "--type", "image/*", "--yes"], own)).deleted, 0);
    assert.equal((await runJson(["files", "rm", text?.id ?? ""], own)).deleted, 1);
    for (const args of [["rm"], ["get"], ["rm", "key", "--name", "a"], ["get", "key", "--name", "a"]])
      assert.equal((await runFailing(["files", ...args], own)).exitCode, 2, args.join(" "));
    for (const [args, message] of [
      [["--metadata", "user"], /--metadata must be a key and a value/],
      [["--since", "yesterday"], /--since must be a time/],
      [["--status", "gone"], /--status must be one of uploading, uploaded, failed, deleted/],
    ] as [string[], RegExp][]) {
      const failure = await runFailing(["files", "ls", ...args], own);
      assert.equal(failure.exitCode, 2);
      assert.match(failure.message, message);
    }
    const refused = await runFailing(["files", "ls", "--type", "image"], own);
    assert.deepEqual([refused.exitCode, refused.code], [1, "VALIDATION_ERROR"]);
  });

  it("get, copy and delete files", async () => {
    const key = (await listKeys()).find((name) => name.endsWith("note.txt")) ?? "";
    const copied = (await runJson(["files", "cp", key, "--name", "copy.txt"], env)).file;
    assert.deepEqual([copied.name, copied.size, copied.metadata], ["copy.txt", 6, { trip: "Elbe" }]);
    const path = join(folder, "fetched.txt");
    const got = await runJson(["files", "get", copied.key, "--output", path], env);
    assert.deepEqual([got.path, got.size, got.isVerified], [path, 6, true]);
    assert.equal(await readFile(path, "utf8"), "a note");
    const inside = await runJson(["files", "get", copied.key, "--output", join(folder, "photos")], env);
    assert.equal(inside.path, join(folder, "photos/copy.txt"));
    const nowhere = await runFailing(["files", "get", copied.key, "--output", join(folder, "no/a")], env);
    assert.deepEqual([nowhere.code, nowhere.message], ["NOT_FOUND", `There is no folder ${folder}/no.`]);
    const removal = await runUpstow(["files", "rm", copied.key, "no/such/key", "--json"], env);
    assert.equal(removal.code, 1);
    const { deleted, failed, failures } = JSON.parse(removal.stdout);
    assert.deepEqual([deleted, failed, failures[0].key], [1, 1, "no/such/key"]);
    assert.equal((await runFailing(["files", "get", copied.key], env)).code, "NOT_FOUND");
  });

  it("get a file under the longest name that a disk takes, and ask for another where none takes it", async () => {
    const [key = ""] = await listKeys();
    const into = ["--output", join(folder, "photos")];
    const copyAs = async (name: string) =>
      (await runJson(["files", "cp", key, "--name", name], env)).file.key;
    const longest = "n".repeat(255);
    const got = await runJson(["files", "get", await copyAs(longest), ...into], env);
    assert.equal(got.path, join(folder, "photos", longest));
    for (const name of ["..", "/", "日".repeat(86)]) {
      const copy = await copyAs(name);
      const refused = await runFailing(["files", "get", copy, ...into], env);
      assert.match(refused.message, /^The stored name .*\. Choose the file to write with --output\.$/);
      await runJson(["files", "rm", copy], env);
    }
    assert.ok((await readdir(join(folder, "photos"))).every((name) => !name.endsWith(".upstow-part")));
    await runJson(["files", "rm", got.key], env);
    await rm(got.path);
  });

  it("take paths from where `npm run upstow` was called", async () => {
    const byNpm = { ...env, npm_lifecycle_event: "upstow", INIT_CWD: join(folder, "photos") };
    const [sent] = (await runJson(["upload", "note.txt"], byNpm)).files;
    assert.equal(sent.path, join(folder, "photos/note.txt"));
    const here = await runJson(["files", "get", sent.key], byNpm);
    assert.equal(here.path, join(folder, "photos/note.txt"));
    const inside = await runJson(["files", "get", sent.key, "--output", "2026"], byNpm);
    assert.equal(inside.path, join(folder, "photos/2026/note.txt"));
    const project = await runFailing(["init", "2026", "--dry-run"], byNpm);
    assert.match(project.message, /photos\/2026/);
    const other = await runFailing(["upload", "note.txt"], { ...byNpm, npm_lifecycle_event: "start" });
    assert.equal(other.code, "NOT_FOUND");
  });

  it("make variants, keys and open pages", async () => {
    const key = (await listKeys()).find((name) => name.endsWith("teal.png")) ?? "";
    const variant = await runJson(["transform", key, "--width", "30", "--format", "webp"], env);
    const bytes = await (await fetch(variant.url)).arrayBuffer();
    const { width, format } = await sharp(bytes).metadata();
    assert.deepEqual([width, format], [30, "webp"]);

    const made = await runJson(["keys", "create", "--name", "for the shell"], env);
    assert.match(made.secret, /^svc_live_/);
    const { keys } = await runJson(["keys", "ls"], { ...env, UPSTOW_API_KEY: made.secret });
    assert.ok(keys.some((item: { id: string }) => item.id === made.key.id));
    assert.deepEqual(await runJson(["keys", "revoke", made.key.id], env), { id: made.key.id, revoked: true });

    const bin = join(folder, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > "${folder}/opened"\n`);
    await chmod(join(bin, "xdg-open"), 0o755);
    const shell = { ...env, PATH: `${bin}:${process.env["PATH"]}` };
    const { url } = await runJson(["open"], shell);
    assert.equal(url, `${app.url}/dashboard`);
    while ((await readFile(join(folder, "opened"), "utf8").catch(() => "")) !== url) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const failure = await runFailing(["open"], { ...env, PATH: "/nowhere" });
    assert.deepEqual([failure.exitCode, failure.code], [1, "NOT_FOUND"]);
    assert.match(failure.message, /xdg-open.*dashboard/);
  });
});

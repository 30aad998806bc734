import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { slowTest } from "../../../test/support/quick-run.ts";
import { until } from "../../sdk/test/support/start-application.ts";
import { MB, startService, type TestService } from "../../sdk/test/support/start-service.ts";
import { readAll, runJson } from "./support/run-upstow.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const bytes = randomBytes(18 * MB);
const [partCount, sentParts] = [4, 2];

describe("upstow upload", () => {
  let service: TestService;
  let folder: string;
  let env: Record<string, string>;
  const path = () => join(folder, "large.bin");
  const stored = () => service.storage.puts.filter((put) => put.status === 200);
  before(async () => {
    service = await startService();
    folder = await mkdtemp(join(tmpdir(), "upstow-resume-"));
    env = { HOME: folder, UPSTOW_URL: service.app.url, UPSTOW_API_KEY: service.apiKey };
    await writeFile(path(), bytes);
  });
  after(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const runs = () => join(folder, ".config/upstow/runs");
  const readJournal = async () => {
    const [journal] = await readdir(runs()).catch(() => []);
    return journal === undefined ? "" : readFile(join(runs(), journal), "utf8");
  };

  /** Starts the command, lets two bodies through and kills it when they have been seen. */
  async function killHalfWay(
    upload = path(),
    isSeen: () => boolean | Promise<boolean> = () => stored().length === sentParts,
    signal: "SIGKILL" | "SIGINT" = "SIGKILL",
    command = ["upload"],
  ): Promise<{ code: number | null; said: string }> {
    service.storage.puts.length = 0;
    service.storage.allow(sentParts);
    const args = ["--disable-warning=ExperimentalWarning", main, ...command, upload];
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env["PATH"], ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const saying = text(child.stderr);
    await until(isSeen);
    child.kill(signal);
    const [code] = await once(child, "exit");
    service.storage.dropHeld();
    service.storage.puts.length = 0;
    service.storage.allow(Number.POSITIVE_INFINITY);
    return { code, said: await saying };
  }

  it("goes on where it was killed, and sends only what is missing", async () => {
    await killHalfWay();
    const { files } = await runJson(["upload", path()], env);
    assert.equal(stored().length, partCount - sentParts);
    const sentBytes = stored().reduce((sum, put) => sum + put.receivedBytes, 0);
    assert.equal(sentBytes, bytes.length - sentParts * 5 * MB);
    const content = Buffer.from(await (await fetch(files[0].url)).arrayBuffer());
    assert.equal(hashOf(content), hashOf(bytes));
    assert.deepEqual(await readdir(join(folder, ".config/upstow/uploads")), []);
  });

  it("says at Ctrl-C how to continue, and continues", async () => {
    const isSeen = () => stored().length === sentParts;
    const { code, said } = await killHalfWay(path(), isSeen, "SIGINT");
    assert.equal(said, "Stopped. Run the same command again to continue.\n");
    assert.equal(code, 130);
    await runJson(["upload", path()], env);
    assert.equal(stored().length, partCount - sentParts);
  });

  it("goes on with an import that was killed, and imports nothing twice", async () => {
    const old = join(folder, "old");
    await mkdir(old);
    await writeFile(join(old, "film.bin"), bytes);
    const command = ["import", "folder"];
    await killHalfWay(old, () => stored().length === sentParts, "SIGKILL", command);
    const { imported } = await runJson([...command, old], env);
    assert.equal(stored().length, partCount - sentParts);
    assert.equal(hashOf((await readAll(imported[0].url)).bytes), hashOf(bytes));
    const again = await runJson([...command, old], env);
    assert.deepEqual([again.imported.length, again.before.length], [0, 1]);
    const { files } = await runJson(["files", "ls"], env);
    assert.equal(files.filter(({ name }: { name: string }) => name === "old/film.bin").length, 1);
  });

  it("goes on with a folder: what was stored is not stored again", async () => {
    const album = join(folder, "album");
    await mkdir(album);
    const names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt"];
    for (const name of names) await writeFile(join(album, name), name);
    await killHalfWay(album, async () => (await readJournal()).split("\n").length === sentParts + 1);

    const { files } = await runJson(["upload", album], env);
    assert.equal(stored().length, names.length - sentParts);
    assert.deepEqual(
      files.map((file: { name: string }) => file.name).sort(),
      names.map((name) => `album/${name}`),
    );
    assert.deepEqual(await readdir(runs()), []);
    assert.equal((await runJson(["upload", album], env)).files.length, names.length);
    assert.equal(stored().length, 2 * names.length - sentParts, "a whole run begins anew");
  });

  slowTest("goes on with a folder: what was deleted in between is stored again", async () => {
    const album = join(folder, "trip");
    await mkdir(album);
    for (const name of ["a.txt", "b.txt"]) await writeFile(join(album, name), name);
    await writeFile(join(album, "z.bin"), bytes.subarray(0, 11 * MB));
    await killHalfWay(album, async () => (await readJournal()).split("\n").length === sentParts + 1);
    const [gone] = (await runJson(["files", "ls"], env)).files.filter(
      (file: { name: string }) => file.name === "trip/b.txt",
    );
    await runJson(["files", "rm", gone.key], env);

    const { files } = await runJson(["upload", album], env);
    assert.equal(files.length, 3);
    for (const file of files) assert.equal((await readAll(file.url)).status, 200, file.name);
    assert.ok(files.every((file: { key: string }) => file.key !== gone.key));
  });

  slowTest(
    "begins again where the file or its metadata has changed, or the service has forgotten",
    async () => {
      await killHalfWay();
      const { files } = await runJson(["upload", path(), "--metadata", '{"album":7}'], env);
      assert.deepEqual(files[0].metadata, { album: 7 });
      assert.equal(stored().length, partCount);

      await killHalfWay();
      await utimes(path(), new Date(), new Date());
      await runJson(["upload", path()], env);
      assert.equal(stored().length, partCount);

      await killHalfWay();
      const open = (await runJson(["files", "ls"], env)).files.filter(
        (file: { status: string }) => file.status === "UPLOADING",
      );
      await runJson(["files", "rm", ...open.map((file: { key: string }) => file.key)], env);
      await runJson(["upload", path()], env);
      assert.equal(stored().length, partCount);
    },
  );
});

const hashOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { downloadFile } from "./download-file.ts";

const server = createServer((request, response) => {
  if (request.url === "/cut") {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setTimeout(() => request.socket.destroy(), 10);
  } else response.end("stored");
});
let folder: string;
let url: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "upstow-download-"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const sha256 = createHash("sha256").update("stored").digest("hex");

it("replaces a file only by the whole of another", async () => {
  const path = join(folder, "file.txt");
  await writeFile(path, "mine");
  await writeFile(`${path}.part`, "mine too");
  for (const file of [
    { url, size: 6, sha256: sha256.replace(/^./, (digit) => (digit === "0" ? "1" : "0")) },
    { url, size: 7, sha256: null },
    { url: `${url}/cut`, size: 100, sha256: null },
  ]) {
    await assert.rejects(downloadFile(file, path, { replace: true }), { name: "OperatorError" });
    assert.equal(await readFile(path, "utf8"), "mine");
    assert.deepEqual((await readdir(folder)).sort(), ["file.txt", "file.txt.part"]);
  }
  assert.equal(await downloadFile({ url, size: 6, sha256 }, path, { replace: true }), true);
  assert.equal(await readFile(path, "utf8"), "stored");
  assert.equal(await readFile(`${path}.part`, "utf8"), "mine too");
});

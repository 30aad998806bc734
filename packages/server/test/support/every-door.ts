import assert from "node:assert/strict";
import type { Source } from "./imports/source.ts";
import { serve } from "./imports/source.ts";
import type { TestApp } from "./start-app.ts";
import { put, type UploadClient } from "./upload-client.ts";

interface Sender {
  app: TestApp;
  client: UploadClient;
  source: Source;
}

/** The whole file, and for uploads in parts another one. */
interface Sent {
  bytes: Buffer;
  pieces: Buffer[];
  type: string;
}

/** What each door made of a file: its id. */
export async function sendByEveryDoor(
  { app, client, source }: Sender,
  { bytes, pieces, type }: Sent,
  route: { routeSlug: string },
): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  const declared = { ...route, contentType: type };
  source.paths.set("/a", serve(bytes, type));
  files["one piece"] = (await client.upload(bytes, declared)).id;
  files["parts"] = (await client.uploadPieces(pieces, declared)).id;
  const { uploads } = (
    await client.post("upload/batch/request", {
      files: [{ fileName: "a", fileSize: bytes.length, ...declared }],
    })
  ).body;
  await put(uploads[0].uploadUrl, bytes, type);
  await client.post("upload/batch/complete", { files: [{ fileId: uploads[0].fileId }] });
  files["a batch"] = uploads[0].fileId;
  const imported = await client.post("upload/import", { url: `${source.url}/a`, ...route });
  files["an import"] = imported.body.file.id;
  const grant = (await client.post("upload/grants", { ...route, maxFiles: 3 })).body.grant.token;
  const form = new FormData();
  form.append("file", new File([bytes], "a", { type }));
  const formed = await fetch(`${app.url}/form/${grant}`, { method: "POST", body: form });
  files["a form"] = ((await formed.json()) as { files: { id: string }[] }).files[0]?.id ?? "";
  const offsetType = "application/offset+octet-stream";
  for (const [door, path, headers] of [
    [
      "tus",
      "/tus",
      { "tus-resumable": "1.0.0", "upload-length": String(bytes.length), "content-type": offsetType },
    ],
    ["resumable", "/resumable", { "upload-complete": "?1", "upload-draft-interop-version": "6" }],
  ] as const) {
    const sent = await fetch(app.url + path, {
      method: "POST",
      body: bytes,
      headers: { authorization: `Bearer ${grant}`, ...headers },
    });
    files[door] = sent.headers.get("upstow-file-id") ?? assert.fail(`${door}: ${await sent.text()}`);
  }
  return files;
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { ConsoleCall } from "../console-client.ts";
import { settled } from "../imports/import-client.ts";
import { type Source, serve } from "../imports/source.ts";
import type { Answer, TestApp } from "../start-app.ts";
import { onDisk } from "../test-bucket.ts";
import { createDraftClient } from "../tus/draft-client.ts";
import { octets } from "../tus/unfinished-patch.ts";
import { put, putParts, type UploadClient } from "../upload-client.ts";

export interface Sent {
  name: string;
  type: string;
  bytes: Buffer;
}

export interface Place {
  app: TestApp;
  client: UploadClient;
  /** The dashboard's API of the project and environment. */
  session: ConsoleCall;
  source: Source;
  routeSlug: string;
}

/** What a door told its client: null if the file was stored, otherwise the code and message of the rejection. */
export type Verdict = { code: string; message: string } | null;

type Door = (sent: Sent, place: Place) => Promise<Verdict>;

interface Refused {
  error?: { code: string; message: string };
}

function verdictOf({ status, body }: { status: number; body: Refused | null }): Verdict {
  if (status < 300) return null;
  assert.equal(status, 422, JSON.stringify(body));
  return { code: body?.error?.code ?? "", message: body?.error?.message ?? "" };
}

const bodyOf = ({ name, type, bytes }: Sent, { routeSlug }: Place) => ({
  ...{ fileName: name, contentType: type, fileSize: bytes.length, routeSlug },
});

function succeeded({ status, body }: Answer) {
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const grantFor = async ({ client, routeSlug }: Place, maxFiles = 1): Promise<string> =>
  succeeded(await client.post("upload/grants", { routeSlug, maxFiles })).grant.token;

const inOnePiece: Door = async (sent, place) => {
  const upload = await place.client.request(bodyOf(sent, place));
  assert.equal((await put(upload.uploadUrl, sent.bytes, sent.type)).status, 200);
  return verdictOf(await place.client.complete(upload.fileId));
};

const inBatch: Door = async (sent, place) => {
  const { post } = place.client;
  const { uploads } = succeeded(await post("upload/batch/request", { files: [bodyOf(sent, place)] }));
  assert.equal((await put(uploads[0].uploadUrl, sent.bytes, sent.type)).status, 200);
  return verdictOf(await post("upload/batch/complete", { files: [{ fileId: uploads[0].fileId }] }));
};

const inDashboard: Door = async (sent, { session, ...place }) => {
  const upload = succeeded(await session("POST", "/upload/request", bodyOf(sent, { session, ...place })));
  assert.equal((await put(upload.uploadUrl, sent.bytes, sent.type)).status, 200);
  return verdictOf(await session("POST", "/upload/complete", { fileId: upload.fileId }));
};

const partBytes = 5 * 1024 * 1024;

/** Only for files of more than 10 MB. */
export const inParts: Door = async (sent, place) => {
  const upload = await place.client.init(bodyOf(sent, place));
  const pieces: Buffer[] = [];
  for (let at = 0; at < sent.bytes.length; at += partBytes)
    pieces.push(sent.bytes.subarray(at, at + partBytes));
  return verdictOf(await place.client.completeParts(upload, await putParts(upload, pieces)));
};

const encode = (text: string) => Buffer.from(text).toString("base64");
const describe = ({ name, type }: Sent, { routeSlug }: Place) =>
  `route ${encode(routeSlug)},filename ${encode(name)},filetype ${encode(type)}`;

const sendByTus = (
  { app, client }: Place,
  method: string,
  path: string,
  headers: Record<string, string>,
  bytes?: Uint8Array,
) =>
  fetch(new URL(path, app.url), {
    method,
    headers: {
      ...{ "tus-resumable": "1.0.0", authorization: `Bearer ${client.key}`, "content-type": octets },
      ...headers,
    },
    ...(bytes && { body: new Uint8Array(bytes) }),
  });

const told = async (response: Response): Promise<Verdict> => {
  const text = await response.text();
  return verdictOf({ status: response.status, body: text === "" ? null : JSON.parse(text) });
};

async function openByTus(place: Place, headers: Record<string, string>): Promise<string> {
  const opened = await sendByTus(place, "POST", "/tus", headers);
  assert.equal(opened.status, 201, await opened.text());
  return opened.headers.get("location") ?? "";
}

/** The mark of a format may be cut in two. */
const byTus: Door = async (sent, place) => {
  const { length } = sent.bytes;
  const path = await openByTus(place, {
    "upload-length": String(length),
    "upload-metadata": describe(sent, place),
  });
  if (length > 1)
    assert.equal(
      (await sendByTus(place, "PATCH", path, { "upload-offset": "0" }, sent.bytes.subarray(0, 1))).status,
      204,
    );
  const from = Math.min(1, length - 1);
  return told(
    await sendByTus(place, "PATCH", path, { "upload-offset": String(from) }, sent.bytes.subarray(from)),
  );
};

const byTusAtOnce: Door = async (sent, place) => {
  const headers = { "upload-length": String(sent.bytes.length), "upload-metadata": describe(sent, place) };
  return told(await sendByTus(place, "POST", "/tus", headers, sent.bytes));
};

const byTusJoined: Door = async (sent, place) => {
  const half = Math.ceil(sent.bytes.length / 2);
  const paths: string[] = [];
  for (const piece of [sent.bytes.subarray(0, half), sent.bytes.subarray(half)]) {
    const said = {
      "upload-concat": "partial",
      "upload-metadata": describe({ ...sent, name: "half" }, place),
    };
    const path = await openByTus(place, { ...said, "upload-length": String(piece.length) });
    if (piece.length > 0)
      assert.equal((await sendByTus(place, "PATCH", path, { "upload-offset": "0" }, piece)).status, 204);
    paths.push(path);
  }
  const said = { "upload-concat": `final;${paths.join(" ")}`, "upload-metadata": describe(sent, place) };
  return told(await sendByTus(place, "POST", "/tus", said));
};

const dispositionOf = ({ name }: Sent) => `attachment; filename="${name}"`;

/** As the page of an upload link sends it. */
const byLink: Door = async (sent, place) => {
  const draft = createDraftClient(place.app.url, await grantFor(place), "6");
  const opened = await draft.create({
    ...{ "upload-complete": "?0", "upload-length": String(sent.bytes.length) },
    ...{ "content-type": sent.type, "content-disposition": dispositionOf(sent) },
  });
  assert.equal(opened.status, 201, JSON.stringify(opened.body));
  return verdictOf(await draft.append(opened.headers.location ?? "", 0, true, sent.bytes));
};

const byDraft: Door = async (sent, { app, client, routeSlug }) => {
  const draft = createDraftClient(app.url, client.key, "8");
  const headers = { "content-type": sent.type, "content-disposition": dispositionOf(sent) };
  const opened = await draft.create(
    { "upload-complete": "?0", ...headers },
    sent.bytes.subarray(0, 1),
    path(),
  );
  assert.equal(opened.status, 201, JSON.stringify(opened.body));
  const from = Math.min(1, sent.bytes.length);
  return verdictOf(await draft.append(opened.headers.location ?? "", from, true, sent.bytes.subarray(from)));

  function path() {
    return `/resumable?route=${routeSlug}`;
  }
};

const byDraftAtOnce: Door = async (sent, { app, client, routeSlug }) => {
  const headers = { "content-type": sent.type, "content-disposition": dispositionOf(sent) };
  const draft = createDraftClient(app.url, client.key, "6");
  return verdictOf(
    await draft.create({ "upload-complete": "?1", ...headers }, sent.bytes, `/resumable?route=${routeSlug}`),
  );
};

const byForm: Door = async (sent, place) => {
  const form = new FormData();
  form.append("file", new File([new Uint8Array(sent.bytes)], sent.name, { type: sent.type }));
  const path = `/form/${await grantFor(place)}`;
  return told(await fetch(place.app.url + path, { method: "POST", body: form }));
};

/** The type is the client's, or the source's. */
const byImport =
  (said: (type: string) => object): Door =>
  async (sent, { client, source, routeSlug }) => {
    const path = `/${randomUUID()}`;
    source.paths.set(path, serve(sent.bytes, sent.type));
    const wanted = { url: source.url + path, fileName: sent.name, routeSlug, ...said(sent.type) };
    const { status, body } = await client.post("upload/import", wanted);
    assert.equal(status, 202, JSON.stringify(body));
    const { id } = await settled(client, body.file.id);
    source.paths.delete(path);
    // The reason follows the status.
    for (;;) {
      const { file } = (await client.get(id)).body;
      if (file.status === "UPLOADED") return null;
      if (file.failure === undefined) {
        await wait(10);
        continue;
      }
      assert.equal(file.failure.reason, "type_refused", JSON.stringify(file.failure));
      return { code: "CONTENT_MISMATCH", message: file.failure.message };
    }
  };

/** Every way in for files of any size, each of which tells its client what became of the file. */
export const doors: Record<string, Door> = {
  "one piece": inOnePiece,
  batch: inBatch,
  dashboard: inDashboard,
  tus: byTus,
  "tus at once": byTusAtOnce,
  ...(onDisk && { "tus joined": byTusJoined }),
  resumable: byDraft,
  "resumable at once": byDraftAtOnce,
  "upload link": byLink,
  form: byForm,
  import: byImport((contentType) => ({ contentType })),
  "import as its source says": byImport(() => ({})),
};

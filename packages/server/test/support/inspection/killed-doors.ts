import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Source, serve } from "../imports/source.ts";
import type { ServerProcess } from "../spawn-server.ts";
import { octets } from "../tus/unfinished-patch.ts";
import { createUploadClient, type Part, put, putParts } from "../upload-client.ts";

/** What is sent through a door, and what its route has to make of it. */
export interface Sent {
  /** Unique, so that its rows can be found whatever was answered. */
  name: string;
  type: string;
  bytes: Buffer;
}

/** "unknown" if nobody can ask again, because no response named the upload. */
export type Outcome = "stored" | "rejected" | "unknown";

/** An upload that a killed server may leave at any step. Called again, it continues on the server that runs then. */
export type Attempt = (server: ServerProcess) => Promise<Outcome>;

/** The service had no time for it, on a machine that is busy. */
export class TryAgain extends Error {}

interface Place {
  key: string;
  routeSlug: string;
  source: Source;
}

type Door = (sent: Sent, place: Place) => Attempt;

/** On a busy machine the service may be unavailable for a moment. */
const patientCall =
  ({ call }: ServerProcess): ServerProcess["call"] =>
  async (...request) => {
    for (;;) {
      const answer = await call(...request);
      if (answer.status !== 503) return answer;
      await wait(100);
    }
  };

const clientOf = (server: ServerProcess, { key }: Place) =>
  createUploadClient({ call: patientCall(server), logLines: [] }, key);

const bodyOf = ({ name, type, bytes }: Sent, { routeSlug }: Place) => ({
  ...{ fileName: name, contentType: type, fileSize: bytes.length, routeSlug },
});

/** A completion that is repeated does not tell whether the first one succeeded, so the file is asked. */
async function outcomeOf(server: ServerProcess, place: Place, status: number, id: string): Promise<Outcome> {
  if (status === 200) return "stored";
  if (status === 422) return "rejected";
  if (status !== 404) throw new Error(`a completion was answered with ${status}`);
  const { body } = await clientOf(server, place).get(id);
  return body.file?.status === "UPLOADED" ? "stored" : "rejected";
}

const inOnePiece: Door = (sent, place) => {
  let open: { fileId: string; uploadUrl: string } | null = null;
  let isSent = false;
  return async (server) => {
    const client = clientOf(server, place);
    open ??= await client.request(bodyOf(sent, place));
    if (!isSent) isSent = (await put(open.uploadUrl, sent.bytes, sent.type)).ok;
    if (!isSent) throw new TryAgain();
    const { status } = await client.complete(open.fileId);
    return outcomeOf(server, place, status, open.fileId);
  };
};

const partBytes = 5 * 1024 * 1024;

const inParts: Door = (sent, place) => {
  let open: Awaited<ReturnType<ReturnType<typeof clientOf>["init"]>> | null = null;
  let parts: Part[] | null = null;
  return async (server) => {
    const client = clientOf(server, place);
    open ??= await client.init(bodyOf(sent, place));
    const pieces: Buffer[] = [];
    for (let at = 0; at < sent.bytes.length; at += partBytes)
      pieces.push(sent.bytes.subarray(at, at + partBytes));
    parts ??= await putParts(open, pieces).catch(() => {
      throw new TryAgain();
    });
    const { status } = await client.completeParts(open, parts);
    return outcomeOf(server, place, status, open.fileId);
  };
};

/** Both protocols: create, ask for the offset, and append the rest. */
const growing =
  (path: string, all: Record<string, string>, of: { create(sent: Sent): object; append: object }): Door =>
  (sent, { key, routeSlug }) => {
    let location: string | null = null;
    let isNew = true;
    const send = (server: ServerProcess, method: string, to: string, headers: object, body?: Buffer) =>
      fetch(new URL(to, server.url), {
        method,
        headers: { ...all, ...headers },
        ...(body && { body: new Uint8Array(body) }),
      });
    async function locate(server: ServerProcess): Promise<string> {
      const said = { authorization: `Bearer ${key}`, "upload-length": String(sent.bytes.length) };
      const created = await send(server, "POST", `${path}?route=${routeSlug}`, {
        ...said,
        ...of.create(sent),
      });
      if (created.status === 503) throw new TryAgain();
      if (created.status !== 201) throw new Error(`${path}: ${created.status} ${await created.text()}`);
      return created.headers.get("location") ?? "";
    }
    /** Where to continue, unless the upload has ended. */
    async function ask(server: ServerProcess, at: string): Promise<number | Outcome> {
      const { status, headers } = await send(server, "HEAD", at, {});
      if (status === 503) throw new TryAgain();
      if (status === 404 || status === 422) return "rejected";
      return headers.has("upstow-file-id") ? "stored" : Number(headers.get("upload-offset"));
    }
    return async (server) => {
      location ??= await locate(server);
      const offset = isNew ? 0 : await ask(server, location);
      isNew = false;
      if (typeof offset === "string") return offset;
      const said = { "upload-offset": String(offset), ...of.append };
      const { status } = await send(server, "PATCH", location, said, sent.bytes.subarray(offset));
      if (status === 503) throw new TryAgain();
      if (status === 422 || status === 404) return "rejected";
      if (status >= 300) throw new Error(`an append to ${path} was answered with ${status}`);
      return "stored";
    };
  };

const base64 = (text: string) => Buffer.from(text).toString("base64");

const byTus = (routeSlug: string): Door =>
  growing(
    "/tus",
    { "tus-resumable": "1.0.0" },
    {
      create: ({ name, type }) => ({
        "upload-metadata": `route ${base64(routeSlug)},filename ${base64(name)},filetype ${base64(type)}`,
      }),
      append: { "content-type": octets },
    },
  );

const byDraft: Door = growing(
  "/resumable",
  { "upload-draft-interop-version": "8" },
  {
    create: ({ name, type }) => ({
      "upload-complete": "?0",
      "content-type": type,
      "content-disposition": `attachment; filename="${name}"`,
    }),
    append: { "upload-complete": "?1", "content-type": "application/partial-upload" },
  },
);

const byForm: Door = (sent, place) => {
  let isLost = false;
  return async (server) => {
    if (isLost) return "unknown";
    const { routeSlug } = place;
    const { body } = await clientOf(server, place).post("upload/grants", { routeSlug });
    const form = new FormData();
    form.append("file", new File([new Uint8Array(sent.bytes)], sent.name, { type: sent.type }));
    isLost = true;
    const formed = await fetch(`${server.url}/form/${body.grant.token}`, { method: "POST", body: form });
    await formed.arrayBuffer();
    isLost = false;
    if (formed.status === 503) throw new TryAgain();
    if (formed.status !== 200 && formed.status !== 422) throw new Error(`a form: ${formed.status}`);
    return formed.status === 200 ? "stored" : "rejected";
  };
};

const byImport: Door = (sent, place) => {
  const path = `/${randomUUID()}`;
  place.source.paths.set(path, serve(sent.bytes, sent.type));
  let id: string | null = null;
  return async (server) => {
    const client = clientOf(server, place);
    const { routeSlug, source } = place;
    const wanted = { url: source.url + path, fileName: sent.name, routeSlug };
    id ??= (await client.post("upload/import", wanted)).body.file.id as string;
    for (;;) {
      const { status, body } = await client.get(id);
      // The scan may have deleted it since.
      if (status === 404) return "rejected";
      if (body.file.status !== "UPLOADING") return body.file.status === "UPLOADED" ? "stored" : "rejected";
      await wait(20);
    }
  };
};

export const killedDoors = (routeSlug: string): Record<string, Door> => ({
  "one piece": inOnePiece,
  parts: inParts,
  form: byForm,
  tus: byTus(routeSlug),
  resumable: byDraft,
  import: byImport,
});

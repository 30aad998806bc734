import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

type Headers = Record<string, string>;

export interface DraftResponse {
  status: number;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: problems and files
  body: any;
  /** The headers of each 104. */
  early: IncomingHttpHeaders[];
}

export const partialUpload = "application/partial-upload";
export const some = (count: number) => Buffer.alloc(count, "A");

/** One interop version of the IETF draft, as its clients send it. */
export function createDraftClient(url: string, key: string, version: string) {
  const draft = { "upload-draft-interop-version": version };

  function send(
    method: string,
    path: string,
    headers: Headers = {},
    body: Uint8Array | null = null,
  ): Promise<DraftResponse> {
    return new Promise((resolve, reject) => {
      const early: IncomingHttpHeaders[] = [];
      const length: Headers = body === null ? {} : { "content-length": String(body.length) };
      const request = httpRequest(new URL(path, url), {
        method,
        headers: { ...draft, ...length, ...headers },
      });
      request.on("information", (information) => {
        if (information.statusCode === 104) early.push(information.headers);
      });
      request.on("error", reject);
      request.on("response", async (response) => {
        const text = Buffer.concat(await response.toArray()).toString();
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, early, body: text === "" ? null : JSON.parse(text) });
      });
      request.end(body ?? undefined);
    });
  }

  const create = (headers: Headers, body: Uint8Array = new Uint8Array(), path = "/resumable") =>
    send("POST", path, { authorization: `Bearer ${key}`, ...headers }, body);

  async function open(length: number | null = 100): Promise<string> {
    const said: Headers = length === null ? {} : { "upload-length": String(length) };
    const created = await create({ "upload-complete": "?0", ...said });
    if (created.status !== 201) throw new Error(`${created.status}: ${JSON.stringify(created.body)}`);
    return created.headers.location ?? "";
  }

  function append(
    location: string,
    offset: number | string,
    isComplete: boolean,
    body: Uint8Array,
    headers: Headers = {},
  ) {
    const said = { "upload-offset": String(offset), "upload-complete": isComplete ? "?1" : "?0" };
    return send("PATCH", location, { "content-type": partialUpload, ...said, ...headers }, body);
  }

  const head = (location: string, headers: Headers = {}) => send("HEAD", location, headers);

  return { send, create, open, append, head };
}

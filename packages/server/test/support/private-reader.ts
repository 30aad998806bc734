import assert from "node:assert/strict";
import { expectError } from "./expect-error.ts";
import { smallBody, type UploadClient, type UploadFields } from "./upload-client.ts";

/** Private files of a project, and the rights to them that it gives. */
export function createPrivateReader(client: UploadClient) {
  const post = async (path: string, body: object) => {
    const answer = await client.post(path, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  return {
    privately: (fields: UploadFields = {}) => client.upload(smallBody, { access: "private", ...fields }),
    linkTo: async (key: string, options = {}): Promise<string> =>
      (await post("files/links", { keys: [key], ...options })).links[0].url,
    grant: async (scope: object): Promise<string> => (await post("files/grants", scope)).grant.baseUrl,
    revoke: (what: object) => post("files/links/revoke", what),
  };
}

export type PrivateReader = ReturnType<typeof createPrivateReader>;

export async function read(url: string, init: RequestInit = {}) {
  const response = await fetch(url, { redirect: "manual", ...init });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const body = isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : null;
  return { status: response.status, headers: response.headers, bytes, body };
}

export async function expectBytes(url: string, bytes = smallBody) {
  const answer = await read(url);
  assert.equal(answer.status, 200, answer.bytes.toString());
  assert.deepEqual(answer.bytes, bytes);
  return answer;
}

export async function expectOver(url: string, reason: string): Promise<void> {
  const answer = await read(url);
  assert.equal(expectError(answer, 403, "FORBIDDEN").message, reason);
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  assert.equal(answer.headers.get("x-robots-tag"), "noindex");
}

export async function expectGone(url: string): Promise<void> {
  expectError(await read(url), 404, "NOT_FOUND");
}

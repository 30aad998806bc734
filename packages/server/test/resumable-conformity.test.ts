// The 51 cases of the public conformity suite for the draft, tomdesair/tus-java-server scripts/rufh_conformity_test.py, by
// their names there. docs/compatibility.md shows their results.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createDraftClient, partialUpload, some } from "./support/tus/draft-client.ts";

type Client = ReturnType<typeof createDraftClient>;
type Case = (client: Client) => Promise<void>;

const problem = (name: string) => `https://iana.org/assignments/http-problem-types#${name}`;
const isOneOf = (status: number, ...statuses: number[]) => assert.ok(statuses.includes(status), `${status}`);
const digestOf = (body: Uint8Array) => `sha-256=:${hash("sha256", body, "base64")}:`;

async function limitsOf(client: Client): Promise<Map<string, number>> {
  const { status, headers } = await client.send("OPTIONS", "/resumable");
  isOneOf(status, 200, 204);
  const limits = String(headers["upload-limit"]).split(/, */);
  return new Map(limits.map((limit) => [limit.split("=")[0] ?? "", Number(limit.split("=")[1])]));
}

const state: Record<string, Case> = {
  async append_non_integer_upload_offset({ open, append }) {
    isOneOf((await append(await open(), "abc", false, some(32))).status, 400, 409);
  },
  async offset_never_decreases({ open, append, head }) {
    const url = await open();
    await append(url, 0, false, some(32));
    const { status, headers } = await append(url, 5, false, some(32));
    assert.deepEqual([status, headers["upload-offset"]], [409, "32"]);
    const held = await head(url);
    assert.deepEqual([held.status, held.headers["upload-offset"]], [204, "32"]);
  },
  async creation_invalid_boolean_upload_complete({ create }) {
    const said = { "upload-complete": "true", "upload-length": "10" };
    assert.equal((await create(said, some(5))).status, 400);
  },
  async unknown_length_upload({ open, append, head }) {
    const url = await open(null);
    assert.equal((await head(url)).headers["upload-length"], undefined);
    assert.equal((await append(url, 0, true, some(32))).status, 200);
    assert.equal((await head(url)).headers["upload-length"], "32");
  },
};

const creation: Record<string, Case> = {
  async creation_optimistic_complete_upload({ create }) {
    const done = await create({ "upload-complete": "?1", "upload-length": "18" }, some(18));
    assert.deepEqual([done.status, done.headers["upload-complete"]], [200, "?1"]);
  },
  async creation_partial_upload({ create }) {
    const { status, headers } = await create({ "upload-complete": "?0", "upload-length": "100" }, some(32));
    assert.deepEqual([status, headers["upload-complete"], headers["upload-offset"]], [201, "?0", "32"]);
    assert.ok(headers.location);
    assert.ok(headers["upload-limit"]);
  },
  async creation_empty_upload({ create }) {
    const { status, headers } = await create({ "upload-complete": "?0", "upload-length": "100" });
    assert.deepEqual([status, headers["upload-complete"]], [201, "?0"]);
    assert.ok(headers.location);
    assert.ok(headers["upload-limit"]);
  },
  async creation_empty_representation({ create }) {
    const done = await create({ "upload-complete": "?1", "upload-length": "0" });
    assert.deepEqual([done.status, done.headers["upload-complete"]], [200, "?1"]);
  },
  async creation_content_disposition({ create }) {
    const said = { "upload-complete": "?0", "content-disposition": 'inline; filename="test.txt"' };
    assert.equal((await create(said, some(32))).status, 201);
  },
  async creation_inconsistent_length({ create }) {
    const said = { "upload-complete": "?1", "upload-length": "100" };
    const { status, headers, body } = await create(said, some(5));
    assert.deepEqual([status, headers["upload-complete"]], [400, "?0"]);
    assert.equal(body.type, problem("inconsistent-upload-length"));
  },
  async creation_inconsistent_length_across_requests({ open, append }) {
    const { status, headers, body } = await append(await open(), 0, false, some(32), {
      "upload-length": "50",
    });
    assert.deepEqual([status, headers["upload-complete"]], [400, "?0"]);
    assert.equal(body.type, problem("inconsistent-upload-length"));
  },
  async creation_location_consistent_across_interim_and_final({ create }) {
    const { early, headers } = await create({ "upload-complete": "?0", "upload-length": "100" });
    assert.deepEqual(
      early.map(({ location }) => location),
      [headers.location],
    );
  },
  async creation_upload_length_persisted_across_appends({ open, append, head }) {
    const url = await open(200);
    await append(url, 0, false, some(32));
    assert.equal((await head(url)).headers["upload-length"], "200");
  },
};

const retrieval: Record<string, Case> = {
  offset_retrieval_head: (client) => retrieve(client, "HEAD"),
  offset_retrieval_get: (client) => retrieve(client, "GET"),
  async offset_retrieval_bad_head_upload_offset({ open, head }) {
    assert.equal((await head(await open(), { "upload-offset": "10" })).status, 400);
  },
  async offset_retrieval_bad_head_upload_complete({ open, head }) {
    assert.equal((await head(await open(), { "upload-complete": "?0" })).status, 400);
  },
};

async function retrieve({ open, send }: Client, method: string): Promise<void> {
  const { status, headers } = await send(method, await open());
  const told = [status, headers["upload-offset"], headers["upload-complete"], headers["upload-length"]];
  assert.deepEqual(told, [204, "0", "?0", "100"]);
  assert.match(String(headers["cache-control"]), /no-store/);
  assert.ok(headers["upload-limit"]);
}

const appending: Record<string, Case> = {
  async append_partial_data({ open, append }) {
    const { status, headers, early } = await append(await open(), 0, false, some(32));
    assert.deepEqual([status, headers["upload-complete"], headers["upload-offset"]], [204, "?0", "32"]);
    assert.deepEqual(early, []);
  },
  async append_missing_upload_offset({ open, send }) {
    const said = { "upload-complete": "?0", "content-type": partialUpload };
    isOneOf((await send("PATCH", await open(), said, some(32))).status, 400, 409);
  },
  async append_missing_upload_complete({ open, send }) {
    const said = { "upload-offset": "0", "content-type": partialUpload };
    isOneOf((await send("PATCH", await open(), said, some(32))).status, 400, 409);
  },
  async append_wrong_content_type({ open, append }) {
    const { status } = await append(await open(), 0, false, some(32), { "content-type": "text/plain" });
    isOneOf(status, 400, 415);
  },
  async append_empty_intermediate({ open, append }) {
    assert.equal((await append(await open(), 0, false, some(0))).status, 204);
  },
  async append_exceeding_upload_length({ open, append, head }) {
    const url = await open(50);
    const { status, headers } = await append(url, 0, false, some(100));
    isOneOf(status, 400, 409);
    assert.equal(headers["upload-complete"], "?0");
    assert.equal((await head(url)).status, 404);
  },
  async append_exactly_at_length_then_exceed({ open, append, head }) {
    const url = await open(50);
    assert.equal((await append(url, 0, false, some(50))).status, 204);
    isOneOf((await append(url, 50, false, some(1))).status, 400, 409);
    assert.equal((await head(url)).status, 404);
  },
  async append_offset_mismatch({ open, append }) {
    const { status, headers, body } = await append(await open(), 99, false, some(32));
    assert.deepEqual([status, headers["upload-offset"], headers["upload-complete"]], [409, "0", "?0"]);
    assert.equal(body.type, problem("mismatching-upload-offset"));
    assert.deepEqual([body["expected-offset"], body["provided-offset"]], [0, 99]);
  },
  async append_offset_mismatch_after_partial_data({ open, append }) {
    const url = await open();
    await append(url, 0, false, some(32));
    const { status, headers } = await append(url, 0, false, some(32));
    assert.deepEqual([status, headers["upload-offset"], headers["upload-complete"]], [409, "32", "?0"]);
  },
  async length_derived_from_completing_append({ open, append, head }) {
    const url = await open(null);
    assert.equal((await append(url, 0, true, some(50))).status, 200);
    assert.equal((await head(url)).headers["upload-length"], "50");
  },
};

const ending: Record<string, Case> = {
  async cancellation_delete({ open, send }) {
    assert.equal((await send("DELETE", await open())).status, 204);
  },
  async cancellation_delete_completed_upload({ create, send }) {
    const { headers } = await create({ "upload-complete": "?1", "upload-length": "8" }, some(8));
    assert.equal((await send("DELETE", headers.location ?? "")).status, 404);
  },
  async head_after_cancellation({ open, send, head }) {
    const url = await open();
    await send("DELETE", url);
    assert.equal((await head(url)).status, 404);
  },
  async append_after_cancellation({ open, send, append }) {
    const url = await open();
    await send("DELETE", url);
    assert.equal((await append(url, 0, false, some(1))).status, 404);
  },
  async cancellation_delete_nonexistent({ send }) {
    assert.equal((await send("DELETE", "/resumable/definitely-nonexistent-id")).status, 404);
  },
  async offset_retrieval_head_completed_upload({ create, head }) {
    const done = await create({ "upload-complete": "?1", "upload-length": "14" }, some(14));
    const { status, headers } = await head(done.headers.location ?? "");
    assert.deepEqual([status, headers["upload-complete"], headers["upload-offset"]], [204, "?1", "14"]);
  },
  async append_to_completed_upload({ open, append }) {
    const url = await open(10);
    const done = await append(url, 0, true, some(10));
    const again = await append(url, 10, true, some(0));
    assert.deepEqual([again.status, again.body], [200, done.body]);
  },
};

const limits: Record<string, Case> = {
  async options_upload_limit_structured_field_format(client) {
    const known = ["max-size", "min-size", "max-append-size", "min-append-size", "max-age"];
    const said = await limitsOf(client);
    assert.ok(said.size > 0);
    for (const [name, value] of said) assert.ok(known.includes(name) && Number.isInteger(value), name);
  },
  async creation_exceeding_max_size(client) {
    const most = (await limitsOf(client)).get("max-size") ?? 0;
    const said = { "upload-complete": "?1", "upload-length": String(most + 1) };
    const { status, headers } = await client.create(said, some(1));
    assert.equal(status, 413);
    assert.ok(headers["upload-limit"]);
  },
  async creation_exceeding_min_append_size(client) {
    assert.equal((await limitsOf(client)).get("min-append-size"), undefined);
    assert.equal((await client.append(await client.open(), 0, false, some(1))).status, 204);
  },
  async creation_empty_body_ignores_min_append_size({ create }) {
    assert.equal((await create({ "upload-complete": "?0", "upload-length": "100" })).status, 201);
  },
  async append_completing_below_min_append_size({ open, append }) {
    assert.equal((await append(await open(1), 0, true, some(1))).status, 200);
  },
  async append_exceeding_max_append_size(client) {
    assert.equal((await limitsOf(client)).get("max-append-size"), undefined);
    const bytes = some(11 * 1024 * 1024);
    assert.equal((await client.append(await client.open(bytes.length), 0, true, bytes)).status, 200);
  },
};

const together: Record<string, Case> = {
  async concurrency_race_condition({ open, append }) {
    const url = await open();
    const both = await Promise.all([1, 2].map(() => append(url, 0, false, some(32))));
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 409]);
  },
  async head_then_append_offset_consistency({ open, append, head }) {
    const url = await open();
    const offset = String((await head(url)).headers["upload-offset"]);
    assert.equal((await append(url, offset, false, some(32))).status, 204);
  },
  async retry_after_409_with_correct_offset({ open, append }) {
    const url = await open();
    const { status, headers } = await append(url, 99, false, some(32));
    assert.equal(status, 409);
    assert.equal((await append(url, String(headers["upload-offset"]), false, some(32))).status, 204);
  },
  async concurrent_head_during_patch({ open, append, head }) {
    const url = await open();
    const [, held] = await Promise.all([append(url, 0, false, some(64)).catch(() => null), head(url)]);
    assert.ok(["0", "64"].includes(String(held.headers["upload-offset"])));
  },
  async concurrent_delete_during_patch({ open, append, head, send }) {
    const url = await open();
    await Promise.all([append(url, 0, false, some(64)).catch(() => null), send("DELETE", url)]);
    assert.equal((await head(url)).status, 404);
  },
};

const strategies: Record<string, Case> = {
  async full_resumable_upload_lifecycle({ open, append, head }) {
    const url = await open();
    assert.equal((await append(url, 0, false, some(32))).status, 204);
    const offset = String((await head(url)).headers["upload-offset"]);
    const { status, headers } = await append(url, offset, true, some(68));
    assert.deepEqual([status, headers["upload-complete"]], [200, "?1"]);
  },
  async careful_upload_creation({ open, append }) {
    assert.equal((await append(await open(), 0, false, some(32))).status, 204);
  },
  async transparent_upgrade_to_resumable({ create }) {
    const { status, headers } = await create({ "upload-complete": "?1" }, some(16));
    assert.deepEqual([status, headers["upload-complete"]], [200, "?1"]);
  },
  async options_with_upload_complete_header({ send }) {
    assert.equal((await send("OPTIONS", "/resumable", { "upload-complete": "?1" })).status, 204);
  },
  async creation_with_valid_content_digest({ create }) {
    const said = { "upload-complete": "?1", "content-digest": digestOf(some(25)) };
    assert.equal((await create(said, some(25))).status, 200);
  },
  async creation_with_invalid_content_digest({ create }) {
    const said = { "upload-complete": "?1", "content-digest": digestOf(some(24)) };
    assert.equal((await create(said, some(25))).status, 400);
  },
};

const cases = Object.entries({
  ...state,
  ...creation,
  ...retrieval,
  ...appending,
  ...ending,
  ...limits,
  ...together,
  ...strategies,
});

describe("the public conformity suite for IETF resumable uploads", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  const clientFor = (version: string) => createDraftClient(app.url, app.owner.live, version);
  for (const version of isQuickRun ? ["8"] : ["5", "6", "8"])
    for (const [name, run] of cases) {
      it(`version ${version}: ${name}`, () => run(clientFor(version)));
    }
});

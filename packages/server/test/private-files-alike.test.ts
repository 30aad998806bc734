import assert from "node:assert/strict";
import { createSecretKey } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { setCdnUrl } from "../src/projects/cdn-domain/cdn-domain.ts";
import { signUrl } from "../src/serving/images/transform-image.ts";
import { openVariantSigner } from "../src/serving/images/transforms.ts";
import { signGrant, signLink } from "../src/serving/links/tokens.ts";
import { type DatabaseKind, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";
import { until } from "./support/webhooks/until.ts";

const picture = await sharp({ create: { width: 40, height: 20, channels: 3, background: "#37a" } })
  .png()
  .toBuffer();
const ownDomain = "files.customer.example";
/** Nobody listens there. */
const purge = "http://127.0.0.1:9/purge";

const asks: Record<string, { method?: string; headers?: Record<string, string> }> = {
  GET: {},
  HEAD: { method: "HEAD" },
  "a range": { headers: { range: "bytes=0-1" } },
  "a range of HEAD": { method: "HEAD", headers: { range: "bytes=0-1" } },
  "a range beyond the end": { headers: { range: "bytes=999999-" } },
  "a range of another version": { headers: { range: "bytes=0-1", "if-range": '"x"' } },
  "If-None-Match": { headers: { "if-none-match": "*" } },
  "If-Match": { headers: { "if-match": '"x"' } },
  "If-Modified-Since": { headers: { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" } },
  "If-Unmodified-Since": { headers: { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" } },
  "another format": { headers: { accept: "image/avif" } },
  OPTIONS: { method: "OPTIONS", headers: { origin: "https://evil.example" } },
  POST: { method: "POST" },
};

const expectedOf = (what: string): number => (what.startsWith("a forged variant") ? 403 : 404);

interface SetUp {
  database?: DatabaseKind;
  env?: Record<string, string>;
}

/** Files that nobody may read and one that never was, asked for in every way. */
function suite(createSetUp: () => Promise<SetUp>): void {
  let app: TestApp;
  let paths: Record<string, string[]>;
  before(async () => {
    const { env, ...setUp } = await createSetUp();
    app = await startApp({ ...setUp, env: { ...env, UPSTOW_TRUSTED_PROXIES: "127.0.0.1" } });
    paths = await createPaths(app);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  after(async () => {
    agent.destroy();
    await app.close();
  });

  for (const [host, headers] of Object.entries({
    "the service's address": {},
    "the project's own domain": { host: ownDomain, "x-forwarded-proto": "https" },
  }))
    it(`answer alike at ${host}`, async () => {
      const askAll = async ([what, alike]: [string, string[]]) => {
        for (const [how, asked] of Object.entries(asks)) {
          const sent = { agent, ...asked, headers: { ...headers, ...asked.headers } };
          const seen = await Promise.all(alike.map((path) => ask(app.url + path, sent)));
          const shown = `${what}, ${how}:\n${seen.join("\n")}`;
          assert.equal(seen.length, 5);
          assert.equal(new Set(seen).size, 1, shown);
          if (asked.method === undefined || asked.method === "HEAD")
            assert.equal(JSON.parse(seen[0] ?? "")[0], expectedOf(what), shown);
        }
      };
      await Promise.all(Object.entries(paths).map(askAll));
    });
}

/** For each kind of path: to a private file, one that expired, one in the trash, a deleted one, and one that never was. */
async function createPaths(app: TestApp): Promise<Record<string, string[]>> {
  const { deps } = app.app;
  const [tenant, foreign] = [await app.createTenant("pro"), await app.createTenant("pro")];
  const client = createUploadClient(app, tenant.live);
  const picked = { contentType: "image/png", fileName: "a.png" };
  const upload = (fields = {}) => client.upload(picture, { ...picked, ...fields });
  const files = [await upload(), await upload({ expiresIn: 2 }), await upload(), await upload()] as const;
  const [secret, expired, trashed, gone] = files;
  await client.patch(secret.key, { access: "private", audience: "vault" });
  await client.remove(gone.key);
  const asOwner = { key: tenant.live, body: { trashDays: 30 } };
  assert.equal((await app.call("PATCH", `projects/${tenant.projectId}`, asOwner)).status, 200);
  await client.remove(trashed.key);
  const inTrash = (await client.list("?status=DELETED")).body.files;
  assert.deepEqual(
    inTrash.map(({ id }: { id: string }) => id),
    [trashed.id],
  );
  await until(async () => (await client.get(expired.key)).status === 404);
  const unknownId = "01hzzzzzzzzzzzzzzzzzzzzzzz";
  const keys = [...files.map(({ key }) => key), secret.key.replace(secret.id, unknownId)];
  const ids = [...files.map(({ id }) => id), unknownId];
  const cdnUrl = `https://${ownDomain}`;
  await deps.db.change(setCdnUrl, { projectId: tenant.projectId, cdnUrl, now: app.clock.now() });

  const signer = await openVariantSigner(deps);
  const now = app.clock.now();
  const variant = (delivery: "public" | "signed", format: "webp" | "auto") => (key: string) => {
    const recipe = { width: 10, fit: "scale-down", quality: 85, format } as const;
    const wanted = { now, file: { key }, recipe, delivery, mark: null };
    return new URL(signUrl(deps.config, signer, wanted).url).pathname;
  };
  const forge = (path: string) => path.replace(/[\w-]{43}/, (signature) => [...signature].reverse().join(""));
  const readKeys = async (key: string) =>
    createSecretKey(Buffer.from((await app.call("GET", "files/read-keys", { key })).body.current));
  const [own, theirs] = [await readKeys(tenant.live), await readKeys(foreign.live)];
  const sandbox = await readKeys(tenant.test);
  const times = { signedAt: now, expiresAt: now + 60_000 };
  const link = (key: typeof own) => (fileId: string) =>
    `/s/${signLink(key, { ...times, fileId, shown: "inline", countedId: null }, "a.png")}/a.png`;
  const grant = (key: typeof own, value: string) => {
    const token = signGrant(key, { ...times, scope: { kind: "audience", value }, subject: "" });
    return (file: string) => `/g/${token}/${file}`;
  };
  return {
    "the file": keys.map((key) => `/f/${key}`),
    "the file with a query": keys.map((key) => `/f/${key}?download=1`),
    "the place in the store": keys.map((key) => `/f/private/${key}`),
    "the id": ids.map((id) => `/f/${id}`),
    "an image address": keys.map((key) => `/i/w_640,fit_scale-down,q_75,f_auto/${key}`),
    "a public variant": keys.map(variant("public", "webp")),
    "a public variant of any format": keys.map(variant("public", "auto")),
    "a variant signed for a public file": keys.map(variant("signed", "webp")),
    "a forged variant": keys.map(variant("public", "webp")).map(forge),
    "a forged variant that expires": keys.map(variant("signed", "webp")).map(forge),
    "another project's link": ids.map(link(theirs)),
    "the other environment's link": ids.map(link(sandbox)),
    "a link that was cut off": ids.map(link(own)).map((path) => path.slice(0, -"/a.png".length)),
    "another project's grant": keys.map(grant(theirs, "vault")),
    "the other environment's grant": keys.map(grant(sandbox, "vault")),
    "a grant for other files": keys.map(grant(own, "elsewhere")),
    "a grant that was cut off": keys
      .map(grant(own, "vault"))
      .map((path) => path.replace(/.(?=\/\w{26}\/)/, "")),
  };
}

/** Everything of an answer that does not differ between any two. */
async function ask(url: string, options: RequestOptions): Promise<string> {
  const asking = request(url, options);
  asking.end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += chunk;
  const kept = Object.entries(answer.headers).filter(([name]) => name !== "x-request-id" && name !== "date");
  return JSON.stringify([answer.statusCode, kept, text]);
}

onAnyDatabase("private, expired, trashed, deleted and unknown files", (database) =>
  suite(async () => ({ database })),
);

describe("private, expired, trashed, deleted and unknown files behind a CDN that keeps public ones", () =>
  suite(async () => ({ env: { UPSTOW_CDN_PURGE: purge } })));

describe("private, expired, trashed, deleted and unknown files in a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  for (const delivery of ["stream", "redirect"])
    describe(`with delivery by ${delivery}`, () =>
      suite(async () => ({ env: { ...(await s3.createEnv()), UPSTOW_S3_DELIVERY: delivery } })));
});

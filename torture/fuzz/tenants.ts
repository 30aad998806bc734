import { randomBytes } from "node:crypto";
import { type Environment, MULTIPART_THRESHOLD_BYTES, type TierName } from "@upstow/contract";
import { createApiKeySecret } from "../../packages/server/src/kernel/security/api-key-secret.ts";
import type { TestApp } from "../../packages/server/test/support/start-app.ts";
import { uploadFile } from "../../packages/server/test/support/upload.ts";
import { createUploadClient, putParts } from "../../packages/server/test/support/upload-client.ts";

export interface KnownFile {
  fileId: string;
  key: string;
  uploadId: string | null;
  uploadUrl: string | null;
  sizeBytes: number;
  contentType: string;
  /** Of an upload in parts that has arrived and waits for its completion. */
  parts: { partNumber: number; etag: string }[] | null;
}

/** A private file that no request changes, in an audience of its own. */
export interface VaultFile {
  fileId: string;
  key: string;
  /** Like nothing else that is stored. */
  bytes: string;
}

export const vault = "vault";
/** An audience without files. */
export const elsewhere = "elsewhere";

/** A project seen with one of its keys, and all that the service has told it. */
export interface Actor {
  name: string;
  environment: Environment;
  secret: string;
  accountId: string;
  projectId: string;
  /** Stands in everything it stores, so that it can be recognised where it must not turn up. */
  canary: string;
  files: KnownFile[];
  vaultFile: VaultFile;
  /** Paths that opened it when they were made. */
  vaultPaths: string[];
  /** Paths of links, tokens of grants and paths of image variants, of any file. */
  links: string[];
  grants: string[];
  variants: string[];
  readKeys: string[];
  projects: string[];
  routers: string[];
  keys: string[];
  deliveries: string[];
  slugs: string[];
  cursors: string[];
}

const mostRemembered = 60;

/** Old ones are forgotten: what is asked for must often still be there. */
export function remember<T>(list: T[], item: T): void {
  if (list.includes(item)) return;
  list.push(item);
  if (list.length > mostRemembered) list.shift();
}

/** Nobody listens there: deliveries fail at once. */
export const hookUrl = "https://127.0.0.1:9/hook";

export async function createActors(app: TestApp): Promise<Actor[]> {
  const tiers: [string, TierName][] = [
    ["large", "enterprise"],
    ["middle", "pro"],
    ["small", "free"],
  ];
  const actors: Actor[] = [];
  for (const [name, tier] of tiers) {
    const tenant = await app.createTenant(tier);
    for (const environment of ["live", "test"] as const) {
      const canary = `canary${randomBytes(9).toString("hex")}`;
      const { accountId, projectId } = tenant;
      const actor: Actor = {
        name: `${name} ${environment}`,
        environment,
        secret: tenant[environment],
        accountId,
        projectId,
        canary,
        files: [],
        vaultFile: await addVaultFile(app, tenant[environment]),
        vaultPaths: [],
        links: [],
        grants: [],
        variants: [],
        readKeys: [],
        projects: [projectId],
        routers: [],
        keys: [],
        deliveries: [],
        slugs: ["default"],
        cursors: [],
      };
      await fill(app, actor);
      actors.push(actor);
    }
  }
  return actors;
}

/** At least one of everything that has an id. */
async function fill(app: TestApp, actor: Actor): Promise<void> {
  const { secret: key, projectId, environment } = actor;
  const slug = `hooked-${environment}`;
  const route = { slug, webhookUrl: hookUrl, environment };
  const { body } = await app.call("POST", `projects/${projectId}/routers`, { key, body: route });
  actor.routers.push(body.router.id);
  actor.slugs.push(slug);
  await addFile(app, actor, "text/plain", slug);
  await addFile(app, actor, "image/png", slug);
  const { body: keys } = await app.call("GET", "files/read-keys", { key });
  actor.readKeys.push(keys.current, keys.next);
  const { body: page } = await app.call("GET", "webhooks/deliveries", { key });
  for (const { id } of page.deliveries) actor.deliveries.push(id);
}

async function addVaultFile(app: TestApp, secret: string): Promise<VaultFile> {
  const bytes = `vault${randomBytes(9).toString("hex")}`;
  const fields = { access: "private", audience: vault, fileName: "secret.txt" } as const;
  const { id, key } = await createUploadClient(app, secret).upload(Buffer.from(bytes), fields);
  return { fileId: id, key, bytes };
}

export async function addFile(
  app: TestApp,
  actor: Actor,
  type: "text/plain" | "image/png",
  routeSlug: string,
): Promise<void> {
  const { secret: key, canary } = actor;
  const bytes = type === "image/png" ? smallPng : "hello";
  const options = { key, type, name: `${canary}.txt`, routeSlug, metadata: { canary } };
  const file = await uploadFile(app, bytes, options);
  remember(actor.files, {
    fileId: file.id,
    key: file.key,
    uploadId: null,
    uploadUrl: null,
    sizeBytes: file.size,
    contentType: type,
    parts: null,
  });
}

/** All parts are there, so that a completion can succeed. */
export async function addParts(app: TestApp, actor: Actor): Promise<void> {
  const client = createUploadClient(app, actor.secret);
  const upload = await client.init({ fileSize: MULTIPART_THRESHOLD_BYTES + 1 });
  const pieces = [Buffer.alloc(MULTIPART_THRESHOLD_BYTES), Buffer.alloc(1)];
  const parts = await putParts(upload, pieces);
  remember(actor.files, {
    fileId: upload.fileId,
    key: upload.key,
    uploadId: upload.uploadId,
    uploadUrl: null,
    sizeBytes: MULTIPART_THRESHOLD_BYTES + 1,
    contentType: "application/octet-stream",
    parts,
  });
}

const smallPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Ways to call without a right to; none of them may be answered with anything but a refusal. */
export async function createBadKeys(app: TestApp): Promise<Record<string, Record<string, string>>> {
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const { owner } = app;
  const made = await app.call("POST", `projects/${owner.projectId}/keys`, { key: owner.live });
  await app.call("DELETE", `keys/${made.body.key.id}`, { key: owner.live });
  const orphan = await app.createTenant("pro");
  await app.call("DELETE", `projects/${orphan.projectId}`, { key: orphan.live });
  return {
    "no key": {},
    "an empty header": { authorization: "" },
    "a revoked key": bearer(made.body.secret),
    "a deleted project's live key": bearer(orphan.live),
    "a deleted project's test key": bearer(orphan.test),
    "a key that was never made": bearer(createApiKeySecret("live").secret),
    "a key with one letter less": bearer(owner.live.slice(0, -1)),
    "a key of the other type's prefix": bearer(owner.live.replace("_live_", "_test_")),
    "a lower-case scheme": { authorization: `bearer ${owner.live}` },
    "two spaces": { authorization: `Bearer  ${owner.live}` },
    "another scheme": { authorization: `Basic ${Buffer.from(owner.live).toString("base64")}` },
    "another header": { "x-api-key": owner.live },
    "a cookie": { cookie: `session=${owner.live}` },
  };
}

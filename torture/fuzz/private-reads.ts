import { createSecretKey } from "node:crypto";
import { GRANT_MAX_SEC, LINK_MAX_SEC } from "@upstow/contract";
import { type LinkFacts, signGrant, signLink } from "../../packages/server/src/serving/links/tokens.ts";
import type { TestApp } from "../../packages/server/test/support/start-app.ts";
import type { Choice } from "./choice.ts";
import type { FuzzAnswer, RawRequest } from "./client.ts";
import { hostileText } from "./hostile.ts";
import { edit } from "./signed-urls.ts";
import { type Actor, elsewhere, remember, vault } from "./tenants.ts";

/**
 * Whether the reader has a right to the file. Others may revoke at any moment, so a right is no promise; "ended" was
 * signed with a key of the project and may say so.
 */
type Right = "some" | "ended" | "none";

export interface PrivateRead extends RawRequest {
  right: Right;
}

const longestReadable = 15_000;

type Forged = { path: string; right: Right };

/** Reads of a private file whose access never changes: with a right to it, and with everything that resembles one. */
export async function createPrivateRead(
  app: TestApp,
  actors: readonly Actor[],
  choice: Choice,
): Promise<PrivateRead> {
  const owner = choice.pick(actors);
  const stranger = choice.pick(actors.filter((actor) => actor !== owner));
  const { path, right } = choice.chance(0.3)
    ? { path: await createPath(app, owner, choice), right: "some" as const }
    : choice.pick([forgeLink, forgeGrant, guessAddress])(owner, stranger, choice, app.clock.now());
  const key = choice.chance(0.2) ? { authorization: `Bearer ${stranger.secret}` } : {};
  return {
    right,
    // Where the head is too long to be read, its method is not known and there is always a body.
    method: path.length < longestReadable ? choice.pick(["GET", "GET", "GET", "HEAD"]) : "GET",
    path,
    headers: { ...key, ...oddConditions(choice) },
    body: null,
  };
}

/** Says what is wrong with an answer, or null. */
export function judgePrivateRead(
  { right, path }: PrivateRead,
  { status, text }: FuzzAnswer,
  actors: readonly Actor[],
) {
  if (status >= 500) return `status ${status}`;
  if (right === "some") return null;
  if (status < 400 || actors.some(({ vaultFile }) => text.includes(vaultFile.bytes)))
    return "a private file was shown without a right";
  // What is too long, cannot be decoded or names no variant is refused before anybody looks for a file.
  const namesNoVariant = status === 403 && /^\/i\/(?![a-z])/.test(path);
  const isAlike = [400, 404, 414, 431].includes(status) || namesNoVariant;
  return isAlike || (right === "ended" && status === 403)
    ? null
    : `status ${status} tells it from an unknown one`;
}

/** A right as the service gives it. Now and then it is an older one, which may have been revoked. */
async function createPath(app: TestApp, owner: Actor, choice: Choice): Promise<string> {
  const { secret: key, vaultFile, vaultPaths } = owner;
  if (vaultPaths.length > 0 && choice.chance(0.5)) return choice.pick(vaultPaths);
  const isLink = choice.chance(0.5);
  const body = isLink
    ? {
        keys: [choice.pick([vaultFile.key, vaultFile.fileId])],
        ...choice.pick([{}, { maxUses: choice.int(1, 3) }, { download: true }, { download: "ä b.txt" }]),
      }
    : choice.pick([{ audience: vault }, { routeSlug: "default" }, { prefix: "default/" }]);
  const { body: made } = await app.call("POST", isLink ? "files/links" : "files/grants", { key, body });
  // Too many counted links are open.
  if (made.error !== undefined) return `/f/${vaultFile.key}`;
  const path = isLink ? new URL(made.links[0].url).pathname : `/g/${made.grant.token}/${vaultFile.key}`;
  remember(vaultPaths, path);
  return path;
}

function forgeLink(owner: Actor, stranger: Actor, choice: Choice, now: number): Forged {
  const { vaultFile, readKeys } = owner;
  const name = "a.txt";
  const facts: LinkFacts = {
    signedAt: now,
    expiresAt: now + 60_000,
    fileId: vaultFile.fileId,
    shown: choice.pick(["inline", "download", "named"]),
    countedId: choice.pick([null, vaultFile.fileId]),
  };
  const uncounted = { ...facts, countedId: null };
  const sign = (secret: string, changed: Partial<LinkFacts> = {}) =>
    `/s/${signLink(toKey(secret), { ...uncounted, ...changed }, name)}/${name}`;
  const own = choice.pick(readKeys);
  const genuine = sign(own);
  const other = choice.pick([...owner.links, ...stranger.links, sign(choice.pick(stranger.readKeys))]);
  return choice.pick<() => Forged>([
    () => damage(genuine, choice),
    () => none(`/s/${signLink(toKey(own), facts, "b")}/${name}`),
    () => none(sign(choice.pick([...stranger.readKeys, "rdk_", "null", owner.secret, own.slice(4)]))),
    () => none(swapSignature(genuine, other)),
    () => none(other.replace(/(?<=\.)[0-9a-z]{26}(?=\.)/, vaultFile.fileId)),
    () => none(sign(own, { expiresAt: now + LINK_MAX_SEC * 1000 + 1 })),
    () => none(sign(own, { signedAt: now + 3_600_000, expiresAt: now + 3_700_000 })),
    () => ({ path: sign(own, { signedAt: now - 60_000, expiresAt: now - 1 }), right: "ended" }),
    // Signed, but nobody has made a counted link of this id.
    () => ({ path: sign(own, { countedId: vaultFile.fileId }), right: "ended" }),
    () => none(`/g/${signLink(toKey(own), uncounted, name)}/${vaultFile.key}`),
    () => none(`/s/${encodeURIComponent(hostileText(choice).toWellFormed())}/${name}`),
  ])();
}

function forgeGrant(owner: Actor, stranger: Actor, choice: Choice, now: number): Forged {
  const { vaultFile, readKeys, projectId } = owner;
  const at = (token: string) => `/g/${token}/${vaultFile.key}`;
  const scope = choice.pick([
    { kind: "audience", value: vault },
    { kind: "route", value: "default" },
    { kind: "prefix", value: "" },
    { kind: "prefix", value: "default/" },
  ] as const);
  const facts = { signedAt: now, expiresAt: now + 60_000, scope, subject: "" };
  const sign = (secret: string, changed: Partial<typeof facts> = {}) =>
    signGrant(toKey(secret), { ...facts, ...changed });
  const own = choice.pick(readKeys);
  const missing = choice.pick([
    { kind: "audience", value: elsewhere },
    { kind: "audience", value: "" },
    { kind: "route", value: "defaul" },
    { kind: "prefix", value: "default/z" },
    { kind: "prefix", value: projectId },
  ] as const);
  const other = choice.pick([...stranger.grants, sign(choice.pick(stranger.readKeys))]);
  return choice.pick<() => Forged>([
    () => damage(at(sign(own)), choice),
    () => none(at(other)),
    () => none(swapSignature(at(sign(own)), at(other))),
    () => none(at(signGrant(toKey(own), { ...facts, scope: missing }))),
    () => none(at(sign(own, { expiresAt: now + GRANT_MAX_SEC * 1000 + 1 }))),
    () => none(at(sign(own, { signedAt: now + 3_600_000, expiresAt: now + 3_700_000 }))),
    () => ({ path: at(sign(own, { signedAt: now - 60_000, expiresAt: now })), right: "ended" }),
    () => none(`/s/${sign(own)}/${vaultFile.key.split("/").at(-1)}`),
    () => none(at(encodeURIComponent(hostileText(choice).toWellFormed()))),
  ])();
}

/** Addresses that need no token, and variants of public files bent to the private one. */
function guessAddress({ vaultFile, variants }: Actor, stranger: Actor, choice: Choice, now: number): Forged {
  const { key, fileId } = vaultFile;
  const [project, route, id, name] = key.split("/");
  const variant = choice.pick([
    ...variants,
    ...stranger.variants,
    `/p/${"A".repeat(43)}/w_1,fit_cover,q_85,f_png/x`,
    `/t/${Math.floor(now / 1000) + 60}-0/${"A".repeat(43)}/w_1,fit_cover,q_85,f_png/x`,
  ]);
  const bent = variant.replace(/^((?:\/p|\/t\/[^/]*)\/[^/]*\/[^/]*\/).*/, `$1${key}`);
  // A signature of these addresses is judged before the file, so that they never tell anything about it.
  if (choice.chance(0.3)) return { path: bent, right: "ended" };
  return none(
    choice.pick([
      `/f/${key}`,
      `/f/private/${key}`,
      `/f/${encodeURIComponent(key)}`,
      `/f/${fileId}`,
      `/f//${key}`,
      `/f/./${key}`,
      `/f/${key}?download=1`,
      `/f/${key}%00`,
      `/f/${project}/${route}/../${route}/${id}/${name}`,
      `/f/${project?.toUpperCase()}/${route}/${id}/${name}`,
      `/i/${key}`,
      `/s/${key}`,
      `/g/${key}`,
      `/s/l1/${name}`,
      `/g/g1/${key}`,
    ]),
  );
}

const none = (path: string): Forged => ({ path, right: "none" });
const toKey = (secret: string) => createSecretKey(Buffer.from(secret));

/** Another path than the genuine one, in a small way. */
function damage(path: string, choice: Choice): Forged {
  const at = choice.int(3, path.length - 1);
  const token = path.split("/")[2] ?? "";
  const damaged = choice.pick([
    () => edit(path, choice),
    () => path.slice(0, at),
    () => flipBit(path, at, choice),
    () => path.slice(0, at) + choice.pick(["%C3%A4", "%F0%9F%98%80", "%FF"]) + path.slice(at + 1),
    () => path.replace(token, token.toUpperCase()),
    () => path.replace(token, `${token}${choice.pick(["=", ".", "A", "%20", "%00", "%0A"])}`),
    () => path.replace(token, token.split(".").reverse().join(".")),
    () => path.replace(token, `${token}.${token}`),
    () => path.replace(token, token.padEnd(choice.pick([4_096, 4_097, 9_000, 20_000]), "A")),
    () => `${path}${"a".repeat(choice.pick([1, 4_096, 20_000]))}`,
  ])();
  // The router takes a slash at the end, and both forms of a letter in a path are the same path.
  return { path: damaged, right: normalize(damaged) === normalize(path) ? "some" : "none" };
}

function flipBit(path: string, at: number, choice: Choice): string {
  const flipped = path.charCodeAt(at) ^ (1 << choice.int(0, 6));
  const escaped = `%${flipped.toString(16).padStart(2, "0")}`;
  return path.slice(0, at) + escaped + path.slice(at + 1);
}

function normalize(path: string): string {
  try {
    return decodeURIComponent(path).replace(/\/+$/, "");
  } catch {
    return path;
  }
}

function swapSignature(path: string, other: string): string {
  const signature = /(?<=\.)[\w-]{43}(?=\/)/;
  const theirs = signature.exec(other)?.[0];
  return theirs === undefined || path.includes(theirs) ? `${path}x` : path.replace(signature, theirs);
}

function oddConditions(choice: Choice): Record<string, string> {
  if (choice.chance(0.5)) return {};
  return choice.pick<Record<string, string>>([
    { range: choice.pick(["bytes=0-1", "bytes=-1", "bytes=0-", "bytes=99-", "bytes=5-1", "bytes=0-0,2-3"]) },
    { range: "bytes=99-", "if-range": '"x"' },
    { "if-none-match": "*" },
    { "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" },
    { "if-match": '"x"' },
    { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" },
    { "x-accel-redirect": "/x", "x-sendfile": "x" },
  ]);
}

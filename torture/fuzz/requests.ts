import { MULTIPART_THRESHOLD_BYTES } from "@upstow/contract";
import type { Choice } from "./choice.ts";
import { hostileBody, hostileText, hostileValue } from "./hostile.ts";
import type { Operation } from "./operations.ts";
import { type Actor, elsewhere, hookUrl, type KnownFile } from "./tenants.ts";
import { toolCall } from "./tool-calls.ts";
import { type Known, nearValidObject, validObject, validValue } from "./values.ts";

export type Mode = "valid" | "near-valid" | "hostile";

export interface FuzzRequest {
  operation: Operation;
  mode: Mode;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | null;
}

export interface Parties {
  asker: Actor;
  /** Whose ids are used, which need not be who asks. */
  owner: Actor;
}

export function createRequest(
  operation: Operation,
  mode: Mode,
  parties: Parties,
  choice: Choice,
): FuzzRequest {
  const known = knownTo(operation, parties, choice);
  const body = createBody(operation, mode, choice, known);
  return {
    operation,
    mode,
    method: operation.method,
    path: createPath(operation, mode, choice, known) + createQuery(operation, mode, choice, known),
    headers: {
      ...(body === null ? {} : { "content-type": "application/json" }),
      ...(operation.path.endsWith("/mcp") ? { accept: "application/json, text/event-stream" } : {}),
      ...(mode === "valid" ? {} : oddHeaders(choice)),
    },
    body,
  };
}

const types = ["text/plain", "image/png", "application/pdf", "video/mp4", "application/x-odd; a=b"];

function knownTo(operation: Operation, { asker, owner }: Parties, choice: Choice): Known {
  const fitting = owner.files.filter((file) => isFor(operation, file));
  const file: KnownFile | undefined = choice.pick([
    ...(fitting.length > 0 ? fitting : owner.files),
    undefined,
  ]);
  const isMultipart = operation.path.endsWith("/init");
  const values: Record<string, () => unknown> = {
    id: () => choice.pick(idsFor(operation, owner)),
    fileId: () => file?.fileId,
    uploadId: () => file?.uploadId ?? "none",
    key: () => file?.key,
    keys: () => Array.from({ length: choice.int(1, 3) }, () => choice.pick(owner.files)?.key ?? "none"),
    ids: () => [choice.pick([...owner.deliveries, "none"])],
    parts: () =>
      file?.parts ?? [{ partNumber: choice.int(1, 3), etag: '"0123456789abcdef0123456789abcdef"' }],
    partNumbers: () => [choice.int(1, 3)],
    routeSlug: () => choice.pick(owner.slugs),
    audience: () => choice.pick(["order:1", elsewhere]),
    prefix: () => choice.pick(["default/", "d", file?.fileId ?? "none"]),
    contentType: () => choice.pick(types),
    allowedTypes: () => choice.pick([[], ["image/*"], ["*/*"], types.slice(0, 2)]),
    fileSize: () =>
      isMultipart
        ? MULTIPART_THRESHOLD_BYTES + choice.int(1, 9)
        : choice.int(1, choice.chance(0.05) ? 9_000_000 : 300),
    webhookUrl: () => choice.pick([null, hookUrl]),
    metadata: () => ({ canary: asker.canary, n: choice.int(0, 9) }),
    cursor: () => (owner.cursors.length === 0 ? undefined : choice.pick(owner.cursors)),
    name: () => `${asker.canary} ${choice.int(0, 999)}`,
    maxFileSize: () => choice.pick([null, 1_000_000]),
  };
  return (name) => values[name]?.();
}

/** Most files could never be transformed, and few uploads in parts have all of them. */
function isFor({ path }: Operation, { contentType, parts }: KnownFile): boolean {
  if (path.endsWith("/transforms/image")) return contentType === "image/png";
  return path.endsWith("/multipart/complete") ? parts !== null : true;
}

/** What would end the tenant itself is asked for by others only. */
function idsFor(operation: Operation, owner: Actor): string[] {
  const { path, method } = operation;
  if (path.includes("/routers/{id}")) return orNone(owner.routers);
  if (path.includes("/keys/{id}")) return orNone(owner.keys);
  if (path.includes("/deliveries/{id}")) return orNone(owner.deliveries);
  if (path.endsWith("/projects/{id}") && method === "DELETE")
    return orNone(owner.projects.filter((id) => id !== owner.projectId));
  return path.endsWith("/projects/{id}") ? owner.projects : [owner.projectId];
}

const orNone = (ids: string[]): string[] => (ids.length === 0 ? ["none"] : ids);

function createPath(operation: Operation, mode: Mode, choice: Choice, known: Known): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (mode === "valid" || choice.chance(0.5)) return encode(String(known(name) ?? "none"));
    // Without a name the path would be another one.
    const text = hostileText(choice) || "%20";
    return mode === "hostile" && /^[\x21-\x7e]+$/.test(text) && choice.chance(0.5) ? text : encode(text);
  });
}

function createQuery(operation: Operation, mode: Mode, choice: Choice, known: Known): string {
  const pairs: string[] = [];
  for (const { name, schema, required } of operation.query) {
    if (!required && choice.chance(0.5)) continue;
    const isBroken = mode !== "valid" && choice.chance(0.5);
    const value = isBroken ? hostileValue(choice, 9) : validValue(schema, name, choice, known);
    pairs.push(`${name}=${encode(String(value))}`);
    if (isBroken && choice.chance(0.1)) pairs.push(`${name}=${encode(hostileText(choice))}`, `${name}[]=1`);
  }
  if (mode === "hostile" && choice.chance(0.2)) pairs.push(encode(hostileText(choice)));
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function createBody(operation: Operation, mode: Mode, choice: Choice, known: Known): string | null {
  if (operation.path.endsWith("/mcp")) return toolCall(choice, mode);
  const schema = operation.body;
  if (schema === null)
    return mode === "hostile" && operation.method !== "GET" ? hostileBody(choice, "{}") : null;
  if (mode === "near-valid") return JSON.stringify(nearValidObject(schema, choice, known));
  const valid = JSON.stringify(validObject(schema, choice, known));
  return mode === "valid" ? valid : hostileBody(choice, valid);
}

/** Lone surrogates have no encoding; the bytes that they would have must not reach further than the parser. */
function encode(text: string): string {
  return [...text].map((char) => (char.isWellFormed() ? encodeURIComponent(char) : "%ED%A0%80")).join("");
}

function oddHeaders(choice: Choice): Record<string, string> {
  if (choice.chance(0.6)) return {};
  const [name, value] = choice.pick([
    ["idempotency-key", hostileText(choice)],
    ["idempotency-key", `key-${choice.int(0, 40)}`],
    [
      "content-type",
      choice.pick(["text/plain", "application/json; charset=utf-16", "x", "multipart/form-data"]),
    ],
    ["content-encoding", choice.pick(["gzip", "br", "identity", "x"])],
    ["x-request-id", hostileText(choice)],
    ["origin", choice.pick(["null", "https://evil.example", hostileText(choice)])],
    ["last-event-id", hostileText(choice)],
    ["x-forwarded-for", "203.0.113.9"],
    ["x-http-method-override", "DELETE"],
    ["range", "bytes=0-1"],
    ["accept", "application/xml"],
    ["expect", "x"],
    ["host", choice.pick(["localhost", "evil.example", "localhost:1"])],
  ] as const);
  // What cannot be put into a header at all would never leave a client either.
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? { [name]: value } : {};
}

import { hash } from "node:crypto";
import { readKey, readSize, readTime, readUploadId } from "./bucket-values.ts";
import type { ObjectCalls } from "./object-calls.ts";
import type { S3Calls } from "./s3-call.ts";
import type { ListOptions } from "./s3-client.ts";
import { BucketFault, isMissing, isStatus, S3Error } from "./s3-error.ts";
import { canBeXml, childrenOf, escapeXml, textOf, type XmlElement } from "./xml.ts";

export interface ListedObject {
  key: string;
  sizeBytes: number;
  modifiedAt: number;
}

export interface ObjectPage {
  objects: ListedObject[];
  next: string | null;
}

export interface ListedUpload {
  key: string;
  uploadId: string;
  startedAt: number;
}

export type Refusals = Map<string, S3Error>;

export interface BucketCalls {
  /** One request. */
  check(deadlineMs: number): Promise<void>;
  /** All pages within the deadline, what the caller does in between included; that of every list unless given. */
  listObjects(prefix: string, deadlineMs?: number): AsyncGenerator<ListedObject>;
  /** One request; the first token is empty, and the next one null after the last page. */
  listPage(prefix: string, token: string): Promise<ObjectPage>;
  listUploads(prefix: string, deadlineMs?: number): AsyncGenerator<ListedUpload>;
  /** Any number; keys that do not exist count as removed. Returns the store's errors by key. */
  removeAll(keys: string[]): Promise<Refusals>;
}

// Some stores delete sequentially.
const extraMsPerKey = 50;
const singleConcurrency = 8;

export function createBucketCalls(
  { call }: S3Calls,
  objects: ObjectCalls,
  { pageSize, listDeadlineMs }: ListOptions,
): BucketCalls {
  let hasBatches = true;

  async function list(query: Record<string, string>, signal: AbortSignal): Promise<XmlElement> {
    const { xml } = await call({ method: "GET", query: { ...query, "encoding-type": "url" }, signal });
    if (xml === null) throw new S3Error(502, "", "a list was cut off");
    return xml;
  }

  async function listPage(prefix: string, token: string, signal: AbortSignal): Promise<ObjectPage> {
    const query = { "list-type": "2", prefix, "max-keys": String(pageSize) };
    const xml = await list({ ...query, ...(token === "" ? {} : { "continuation-token": token }) }, signal);
    const decode = decoderOf(xml);
    const objects = childrenOf(xml, "Contents").map((item) => ({
      key: readKey(decode(textOf(item, "Key")), prefix),
      sizeBytes: readSize(textOf(item, "Size")),
      modifiedAt: readTime(textOf(item, "LastModified")),
    }));
    if (textOf(xml, "IsTruncated") !== "true") return { objects, next: null };
    // Tokens are unordered, and so are the keys of some stores.
    const next = textOf(xml, "NextContinuationToken");
    if (next === "" || next === token) throw new BucketFault("the bucket's list of objects does not advance");
    return { objects, next };
  }

  async function removeBatch(keys: string[]): Promise<Refusals> {
    const items = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`);
    const body = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${items.join("")}</Delete>`;
    const headers = { "content-type": "application/xml", "content-md5": hash("md5", body, "base64") };
    const { xml } = await call({
      method: "POST",
      query: { delete: "" },
      headers,
      body,
      extraMs: keys.length * extraMsPerKey,
    });
    const refusals: Refusals = new Map();
    const asked = new Set(keys);
    for (const item of xml === null ? [] : childrenOf(xml, "Error")) {
      const [key, code] = [textOf(item, "Key"), textOf(item, "Code")];
      if (code === "NoSuchKey") continue;
      const error = new S3Error(500, code, textOf(item, "Message"));
      if (!asked.has(key)) throw error;
      refusals.set(key, error);
    }
    return refusals;
  }

  /** Null if the store does not support bulk deletion: single deletions work everywhere. */
  async function tryBatch(keys: string[]): Promise<Refusals | null> {
    try {
      return await removeBatch(keys);
    } catch (error) {
      if (!isStatus(error, 400, 405, 501)) throw error;
      hasBatches = isStatus(error, 400);
      return null;
    }
  }

  async function removeSingly(keys: string[]): Promise<Refusals> {
    const refusals: Refusals = new Map();
    const waiting = keys.values();
    const work = async () => {
      for (const key of waiting) {
        try {
          await objects.remove(key);
        } catch (error) {
          if (!(error instanceof S3Error)) throw error;
          refusals.set(key, error);
        }
      }
    };
    await Promise.all(Array.from({ length: singleConcurrency }, work));
    return refusals;
  }

  return {
    async check(deadlineMs) {
      await call({ method: "HEAD", deadlineMs, once: true });
    },

    async *listObjects(prefix, deadlineMs = listDeadlineMs) {
      const signal = AbortSignal.timeout(deadlineMs);
      for (let token: string | null = ""; token !== null; ) {
        const page: ObjectPage = await listPage(prefix, token, signal);
        yield* page.objects;
        token = page.next;
      }
    },

    listPage: (prefix, token) => listPage(prefix, token, AbortSignal.timeout(listDeadlineMs)),

    async *listUploads(prefix, deadlineMs = listDeadlineMs) {
      const signal = AbortSignal.timeout(deadlineMs);
      const query = { uploads: "", prefix, "max-uploads": String(pageSize) };
      for (let [key, uploadId] = ["", ""]; ; ) {
        const marker: Record<string, string> =
          key === "" ? {} : { "key-marker": key, "upload-id-marker": uploadId };
        const xml = await list({ ...query, ...marker }, signal);
        const decode = decoderOf(xml);
        for (const item of childrenOf(xml, "Upload")) {
          yield {
            key: readKey(decode(textOf(item, "Key")), prefix),
            uploadId: readUploadId(textOf(item, "UploadId")),
            startedAt: readTime(textOf(item, "Initiated")),
          };
        }
        if (textOf(xml, "IsTruncated") !== "true") return;
        const next = [decode(textOf(xml, "NextKeyMarker")), textOf(xml, "NextUploadIdMarker")] as const;
        if (!isLater(next, [key, uploadId]))
          throw new BucketFault("the bucket's list of uploads does not advance");
        [key, uploadId] = next;
      }
    },

    async removeAll(keys) {
      const single = keys.filter((key) => !canBeXml(key));
      const listed = keys.filter(canBeXml);
      const refusals: [string, S3Error][] = [];
      for (let start = 0; start < listed.length; start += pageSize) {
        const batch = listed.slice(start, start + pageSize);
        const refused = hasBatches ? await tryBatch(batch) : null;
        if (refused === null) single.push(...batch);
        else refusals.push(...refused);
      }
      return new Map([...refusals, ...(await removeSingly(single))]);
    },
  };
}

/** Keys may contain characters that XML cannot, so they are URL-encoded if the store supports it. */
function decoderOf(xml: XmlElement): (text: string) => string {
  if (textOf(xml, "EncodingType") !== "url") return (text) => text;
  return (text) => {
    try {
      return decodeURIComponent(text.replaceAll("+", "%20"));
    } catch {
      throw new BucketFault("the bucket listed a key that cannot be decoded");
    }
  };
}

type UploadMarker = readonly [key: string, uploadId: string];

/** Keys are in byte order; uploads of one key are in the order of their start. */
function isLater([key, uploadId]: UploadMarker, [keyBefore, uploadIdBefore]: UploadMarker): boolean {
  const order = Buffer.compare(Buffer.from(key), Buffer.from(keyBefore));
  return order > 0 || (order === 0 && key !== "" && uploadId !== uploadIdBefore);
}

export interface CorsRule {
  allowedOrigins: string[];
  allowedMethods: string[];
  allowedHeaders: string[];
  exposeHeaders: string[];
  maxAgeSec: number | null;
}

export interface CorsCalls {
  /** Empty if the bucket has none. */
  getRules(): Promise<CorsRule[]>;
  setRules(rules: CorsRule[]): Promise<void>;
}

const lists = [
  ["AllowedOrigin", "allowedOrigins"],
  ["AllowedMethod", "allowedMethods"],
  ["AllowedHeader", "allowedHeaders"],
  ["ExposeHeader", "exposeHeaders"],
] as const;

export function createCorsCalls({ call }: S3Calls): CorsCalls {
  return {
    async getRules() {
      try {
        const { xml } = await call({ method: "GET", query: { cors: "" } });
        return xml === null ? [] : childrenOf(xml, "CORSRule").map(toRule);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },

    async setRules(rules) {
      const body = `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${rules.map(toXml).join("")}</CORSConfiguration>`;
      const headers = { "content-type": "application/xml", "content-md5": hash("md5", body, "base64") };
      await call({ method: "PUT", query: { cors: "" }, headers, body });
    },
  };
}

function toRule(xml: XmlElement): CorsRule {
  const texts = (name: string) => childrenOf(xml, name).map((child) => child.text.trim());
  const [maxAge] = texts("MaxAgeSeconds");
  return {
    allowedOrigins: texts("AllowedOrigin"),
    allowedMethods: texts("AllowedMethod"),
    allowedHeaders: texts("AllowedHeader"),
    exposeHeaders: texts("ExposeHeader"),
    maxAgeSec: maxAge === undefined ? null : Number(maxAge),
  };
}

function toXml(rule: CorsRule): string {
  const items = lists.flatMap(([tag, field]) =>
    rule[field].map((text) => `<${tag}>${escapeXml(text)}</${tag}>`),
  );
  const maxAge = rule.maxAgeSec === null ? "" : `<MaxAgeSeconds>${rule.maxAgeSec}</MaxAgeSeconds>`;
  return `<CORSRule>${items.join("")}${maxAge}</CORSRule>`;
}

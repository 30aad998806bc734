import { hash } from "node:crypto";
import type { ObjectCalls } from "./object-calls.ts";
import type { S3Calls } from "./s3-call.ts";
import { isStatus, S3Error } from "./s3-error.ts";
import { canBeXml, childrenOf, escapeXml, textOf, type XmlElement } from "./xml.ts";

export interface ListedObject {
  key: string;
  sizeBytes: number;
  modifiedAt: number;
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
  listObjects(prefix: string): AsyncGenerator<ListedObject>;
  listUploads(prefix: string): AsyncGenerator<ListedUpload>;
  /** Any number; keys that are not there count as removed. Returns what the store refused, key by key. */
  removeAll(keys: string[]): Promise<Refusals>;
}

// Some stores delete one after the other.
const extraMsPerKey = 50;
const singleConcurrency = 8;

export function createBucketCalls({ call }: S3Calls, objects: ObjectCalls, pageSize: number): BucketCalls {
  let hasBatches = true;

  async function list(query: Record<string, string>): Promise<XmlElement> {
    const { xml } = await call({ method: "GET", query: { ...query, "encoding-type": "url" } });
    if (xml === null) throw new S3Error(502, "", "a list was cut off");
    return xml;
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
    for (const item of xml === null ? [] : childrenOf(xml, "Error")) {
      const [key, code] = [textOf(item, "Key"), textOf(item, "Code")];
      if (code === "NoSuchKey") continue;
      const error = new S3Error(500, code, textOf(item, "Message"));
      if (!keys.includes(key)) throw error;
      refusals.set(key, error);
    }
    return refusals;
  }

  /** Null where the store does not take lists: single deletions are part of the protocol everywhere. */
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

    async *listObjects(prefix) {
      let token = "";
      do {
        const next: Record<string, string> = token === "" ? {} : { "continuation-token": token };
        const xml = await list({ "list-type": "2", prefix, "max-keys": String(pageSize), ...next });
        const decode = decoderOf(xml);
        for (const item of childrenOf(xml, "Contents")) {
          yield {
            key: decode(textOf(item, "Key")),
            sizeBytes: Number(textOf(item, "Size")),
            modifiedAt: Date.parse(textOf(item, "LastModified")),
          };
        }
        token = textOf(xml, "IsTruncated") === "true" ? textOf(xml, "NextContinuationToken") : "";
      } while (token !== "");
    },

    async *listUploads(prefix) {
      let next: Record<string, string> = {};
      do {
        const xml = await list({ uploads: "", prefix, "max-uploads": String(pageSize), ...next });
        const decode = decoderOf(xml);
        for (const item of childrenOf(xml, "Upload")) {
          yield {
            key: decode(textOf(item, "Key")),
            uploadId: textOf(item, "UploadId"),
            startedAt: Date.parse(textOf(item, "Initiated")),
          };
        }
        if (textOf(xml, "IsTruncated") !== "true") return;
        const keyMarker = decode(textOf(xml, "NextKeyMarker"));
        next = { "key-marker": keyMarker, "upload-id-marker": textOf(xml, "NextUploadIdMarker") };
      } while (next["key-marker"] !== "");
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

/** Keys may hold what XML cannot, so they come as in a URL where the store knows how. */
function decoderOf(xml: XmlElement): (text: string) => string {
  if (textOf(xml, "EncodingType") !== "url") return (text) => text;
  return (text) => decodeURIComponent(text.replaceAll("+", "%20"));
}

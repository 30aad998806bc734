import { isUtf8 } from "node:buffer";
import { FILE_NAME_MAX, METADATA_MAX_KEYS, SLUG_MAX } from "@upstow/contract";
import { invalid } from "../../../kernel/errors.ts";
import type { ArrivingFile } from "../request-upload.ts";
import { fileType } from "./door-routes.ts";

type Described = Omit<ArrivingFile, "fileSize">;

const wrong = (message: string) =>
  invalid("Upload-Metadata", message, "Send 'key base64,key2 base64', with each key once.");

/** `filename`, `filetype` and `route` name the file, its type and its route; every other pair is metadata. */
export function readUploadMetadata(header: string | string[] | undefined): Described {
  const pairs = new Map<string, string>();
  for (const pair of String(header ?? "").split(",")) {
    const [key = "", value = "", ...rest] = pair.trim().split(" ");
    if (key === "" && value === "") continue;
    if (!/^[\x21-\x7e]+$/.test(key) || rest.length > 0)
      throw wrong("has a pair that is not a key and a value");
    if (pairs.has(key)) throw wrong(`names ${key} twice`);
    if (pairs.size >= METADATA_MAX_KEYS) throw wrong("has too many pairs");
    pairs.set(key, decode(key, value));
  }
  const take = (key: string) => {
    const value = pairs.get(key);
    pairs.delete(key);
    return value;
  };
  const fileName = take("filename") || "upload";
  if (fileName.length > FILE_NAME_MAX) throw wrong(`has a filename of more than ${FILE_NAME_MAX} characters`);
  const contentType = fileType(take("filetype"));
  const routeSlug = take("route") || "default";
  if (routeSlug.length > SLUG_MAX) throw wrong(`has a route of more than ${SLUG_MAX} characters`);
  return { fileName, contentType, routeSlug, metadata: Object.fromEntries(pairs) };
}

function decode(key: string, value: string): string {
  const bytes = Buffer.from(value, "base64");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value) || !isUtf8(bytes) || bytes.includes(0))
    throw wrong(`has a value of ${key} that is not UTF-8 in base64`);
  return bytes.toString("utf8");
}

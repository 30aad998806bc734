import { basename, resolve } from "node:path";
import { type Call, OperatorError, UsageError } from "../command.ts";
import { collectFiles } from "../upload/collect-files.ts";
import {
  ask,
  emptyFile,
  type ImportSource,
  type LeftOutEntry,
  openUrl,
  readOn,
  type SourceEntry,
} from "./source.ts";

type Env = Call["env"];

function getVariable(env: Env, ...names: string[]): string {
  for (const name of names) if (env[name]) return env[name];
  throw new OperatorError("CONFIGURATION", `${names.join(" or ")} is missing: set it in the environment.`);
}

const askJson = async <T>(url: string, headers: Record<string, string>, body: object): Promise<T> => {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  const response = await ask(url, { ...init, body: JSON.stringify(body) });
  return (await response.json()) as T;
};

/** Slashes stay. */
const encodePath = (path: string) => path.split("/").map(encodeURIComponent).join("/");

interface UploadThingFile {
  key: string;
  customId: string | null;
  name: string;
  size: number;
  status: string;
}

function fromUploadThing({ key, customId, name, size, status }: UploadThingFile): SourceEntry | LeftOutEntry {
  if (status !== "Uploaded") return { id: key, leftOut: `UploadThing says "${status}"` };
  if (size === 0) return { id: key, leftOut: emptyFile };
  // Keys are never overwritten.
  return { id: key, name, sizeBytes: size, version: "", metadata: customId === null ? {} : { customId } };
}

/** All files of an UploadThing app. Its SDK reads the same variables. */
export function openUploadThing(env: Env): ImportSource {
  const { apiKey, appId } = readToken(getVariable(env, "UPLOADTHING_TOKEN"));
  const api = (env["UPLOADTHING_API_URL"] || "https://api.uploadthing.com").replace(/\/$/, "");
  const host = env["UPLOADTHING_UFS_HOST"] || "ufs.sh";
  const isPath = env["UPLOADTHING_UFS_APP_ID_LOCATION"] === "path";
  const scheme = host.includes("local") ? "http" : "https";
  const urlOf = (key: string) =>
    isPath ? `${scheme}://${host}/a/${appId}/${key}` : `${scheme}://${appId}.${host}/f/${key}`;
  const headers = { "x-uploadthing-api-key": apiKey };
  const pageSize = 500;
  return {
    label: `uploadthing:${appId}`,
    async *list() {
      for (let offset = 0; ; ) {
        const page: { files: UploadThingFile[]; hasMore: boolean } = await askJson(
          `${api}/v6/listFiles`,
          headers,
          { limit: pageSize, offset },
        );
        yield* page.files.map(fromUploadThing);
        offset += page.files.length;
        if (!page.hasMore || page.files.length === 0) return;
      }
    },
    async findType({ id }) {
      const response = await fetch(urlOf(id), { method: "HEAD" }).catch(() => null);
      return (response?.ok && response.headers.get("content-type")) || undefined;
    },
    read: ({ id, sizeBytes }) =>
      readOn(sizeBytes, async (startByte) => {
        try {
          return await openUrl(urlOf(id), startByte);
        } catch (error) {
          // Private files return 404 without a signature.
          const access = await askJson<{ ufsUrl: string }>(`${api}/v6/requestFileAccess`, headers, {
            fileKey: id,
          }).catch(() => {
            throw error;
          });
          return openUrl(access.ufsUrl, startByte);
        }
      }),
  };
}

function readToken(token: string): { apiKey: string; appId: string } {
  try {
    const { apiKey, appId } = JSON.parse(Buffer.from(token, "base64").toString());
    if (typeof apiKey === "string" && typeof appId === "string") return { apiKey, appId };
  } catch {
    // Falls through to the error below.
  }
  throw new OperatorError(
    "CONFIGURATION",
    "UPLOADTHING_TOKEN is not an UploadThing 7 token. Copy it from the API keys page of its dashboard.",
  );
}

interface SupabaseEntry {
  /** Null for folders. */
  id: string | null;
  name: string;
  updated_at: string | null;
  metadata: { size?: number; mimetype?: string; eTag?: string } | null;
}

function fromSupabase(path: string, { metadata, updated_at }: SupabaseEntry): SourceEntry | LeftOutEntry {
  if (!metadata?.size) return { id: path, leftOut: emptyFile };
  const version = metadata.eTag ?? updated_at ?? "";
  return { id: path, name: path, sizeBytes: metadata.size, version, type: metadata.mimetype };
}

/** A bucket of Supabase Storage, or one folder in it. */
export function openSupabase(env: Env, bucket: string, prefix: string): ImportSource {
  const address = getVariable(env, "SUPABASE_URL");
  if (!URL.canParse(address)) {
    const example = "https://<project>.supabase.co";
    throw new OperatorError("CONFIGURATION", `SUPABASE_URL must be a URL such as ${example}.`);
  }
  const project = new URL(address);
  const key = getVariable(env, "SUPABASE_SECRET_KEY", "SUPABASE_SERVICE_ROLE_KEY");
  const api = `${project.origin}${project.pathname.replace(/\/$/, "")}/storage/v1`;
  const headers = { authorization: `Bearer ${key}`, apikey: key };
  const pageSize = 1000;

  async function* listBelow(folder: string): AsyncGenerator<SourceEntry | LeftOutEntry> {
    for (let offset = 0; ; ) {
      const sortBy = { column: "name", order: "asc" };
      const body = { prefix: folder, limit: pageSize, offset, sortBy };
      const page: SupabaseEntry[] = await askJson(
        `${api}/object/list/${encodeURIComponent(bucket)}`,
        headers,
        body,
      );
      for (const entry of page) {
        const { id, name } = entry;
        const path = folder === "" ? name : `${folder}/${name}`;
        if (id === null) yield* listBelow(path);
        else yield fromSupabase(path, entry);
      }
      // A short page is not the end: servers may return fewer than requested.
      if (page.length === 0) return;
      offset += page.length;
    }
  }

  return {
    label: `supabase:${project.host}/${bucket}`,
    list: () => listBelow(prefix.replace(/\/+$/, "")),
    read: ({ id, sizeBytes }) =>
      readOn(sizeBytes, (startByte) =>
        openUrl(`${api}/object/${encodeURIComponent(bucket)}/${encodePath(id)}`, startByte, headers),
      ),
  };
}

export interface BucketOptions {
  bucket: string;
  prefix: string;
  endpoint: string | undefined;
  region: string | undefined;
}

/** A bucket of any S3-compatible store. Amazon's tools read the same variables. */
export async function openBucket(
  env: Env,
  { bucket, prefix, ...where }: BucketOptions,
): Promise<ImportSource> {
  const { createS3Client } = await import("@upstow/server/storage/s3/s3-client");
  const endpoint = where.endpoint ?? (env["AWS_ENDPOINT_URL_S3"] || env["AWS_ENDPOINT_URL"] || null);
  if (endpoint !== null && !URL.canParse(endpoint))
    throw new UsageError(`--endpoint must be a URL such as https://s3.example.com, not "${endpoint}".`);
  const client = createS3Client({
    bucket,
    endpoint,
    region: where.region ?? (env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || "us-east-1"),
    accessKeyId: getVariable(env, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: getVariable(env, "AWS_SECRET_ACCESS_KEY"),
    sessionToken: env["AWS_SESSION_TOKEN"] || undefined,
    forcePathStyle: endpoint !== null,
  });
  const wholeDayMs = 24 * 60 * 60 * 1000;
  return {
    label: endpoint === null ? `s3://${bucket}` : `s3://${new URL(endpoint).host}/${bucket}`,
    async *list() {
      for await (const { key, sizeBytes, modifiedAt } of client.bucket.listObjects(prefix, wholeDayMs)) {
        if (sizeBytes === 0) yield { id: key, leftOut: key.endsWith("/") ? "a folder marker" : emptyFile };
        else yield { id: key, name: key, sizeBytes, version: `${modifiedAt}-${sizeBytes}` };
      }
    },
    findType: async ({ id }) => (await client.objects.findHead(id))?.contentType,
    read: ({ id, sizeBytes }) =>
      readOn(sizeBytes, async (start) => {
        const range = start === 0 ? {} : { range: { start, end: sizeBytes - 1 } };
        const { head, stream } = await client.objects.get(id, { ...range, isDownload: true });
        return { etag: head.etag, chunks: stream };
      }),
    close: client.close,
  };
}

/** A folder on this machine. */
export function openFolder(path: string): ImportSource {
  const folder = resolve(path);
  const pathOf = new Map<string, string>();
  return {
    label: `folder:${basename(folder)}`,
    async *list() {
      const { files, leftOut } = await collectFiles([folder]);
      for (const { name, reason } of leftOut) {
        const why = { empty: emptyFile, link: "a link", special: "neither a file nor a folder" };
        yield { id: name, leftOut: why[reason] };
      }
      for (const { path, name, sizeBytes, modifiedMs } of files) {
        pathOf.set(name, path);
        yield { id: name, name, sizeBytes, version: `${Math.floor(modifiedMs)}-${sizeBytes}` };
      }
    },
    read: ({ id }: SourceEntry) => pathOf.get(id) ?? "",
  };
}

import type { CdnPurgeConfig } from "../config/services.ts";
import type { Config } from "../config.ts";

/** A file's possible entries in shared caches: its URLs, and everything tagged with its id. */
export interface PurgedFile {
  id: string;
  urls: string[];
}

export interface CdnPurge {
  /** Resolves once the CDN has accepted the purge, throws if it did not. At most 100 files. */
  purge(files: PurgedFile[]): Promise<void>;
}

export interface PurgeApis {
  cloudflare: string;
  fastly: string;
}

const publicApis: PurgeApis = {
  cloudflare: "https://api.cloudflare.com/client/v4",
  fastly: "https://api.fastly.com",
};
const timeoutMs = 10_000;
const yearSec = 31_536_000;

export function createCdnPurge(config: CdnPurgeConfig, apis: PurgeApis = publicApis): CdnPurge {
  return {
    async purge(files) {
      const response = await fetch(orderFor(config, apis, files));
      if (!response.ok) throw new Error(`the CDN responded to a purge with ${response.status}`);
      // Cloudflare may report an error in the body of a 200.
      if (config.driver === "cloudflare") {
        const { success } = (await response.json()) as { success?: boolean };
        if (success !== true) throw new Error("the CDN rejected a purge");
      } else {
        await response.body?.cancel();
      }
    },
  };
}

function orderFor(config: CdnPurgeConfig, apis: PurgeApis, files: PurgedFile[]): Request {
  const tags = files.map((file) => tagOf(file.id));
  switch (config.driver) {
    case "cloudflare":
      return post(
        `${apis.cloudflare}/zones/${config.zoneId}/purge_cache`,
        { tags },
        { authorization: `Bearer ${config.token}` },
      );
    case "fastly":
      return post(
        `${apis.fastly}/service/${config.serviceId}/purge`,
        { surrogate_keys: tags },
        { "fastly-key": config.token },
      );
    case "http":
      return post(config.url, { urls: files.flatMap((file) => file.urls), tags }, {});
  }
}

function post(url: string, body: object, headers: Record<string, string>): Request {
  return new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    // A redirect would send the token to an unknown place.
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
}

function tagOf(fileId: string): string {
  return `file-${fileId}`;
}

/** A shared cache may keep a file only if a deletion can reach it, and not beyond the file's end. */
export function sharedCacheHeaders(
  { cdnPurge }: Pick<Config, "cdnPurge">,
  fileId: string,
  leftSec: number,
): Record<string, string> {
  if (cdnPurge === null) return {};
  const lifetime = `max-age=${Math.max(0, Math.min(yearSec, leftSec))}`;
  // Fastly reads neither of the general names.
  return cdnPurge.driver === "fastly"
    ? { "surrogate-control": lifetime, "surrogate-key": tagOf(fileId) }
    : { "cdn-cache-control": lifetime, "cache-tag": tagOf(fileId) };
}

import type { Connection, Request } from "../api/request.ts";
import { UpstowError } from "../errors.ts";
import type { CreateGrantBody, Grant, ReadKeys } from "../wire/links.ts";
import { type GrantFacts, importReadKey, type LinkFacts, type Sign, signGrant, signLink } from "./sign.ts";

export interface LinkOptions {
  /** Seconds, 1 to 604,800. Default 3,600. */
  expiresIn?: number;
  /** Makes browsers save the file: true under its own name, a string under that name. */
  download?: boolean | string;
}

export interface SignedGrant extends Grant {
  /** The URL of a file that the grant covers. */
  url(key: string): string;
}

const defaultSec = 3_600;
const longest = { link: 604_800, grant: 86_400 };
const freshMs = 60_000;

/** Signs links and grants without a call. Only the read key is fetched, at most once per minute. */
export function createSigner(
  request: Request,
  connection: () => Connection,
  { readKey, cdnUrl }: { readKey?: string | undefined; cdnUrl?: string | undefined },
) {
  let key = readKey === undefined ? undefined : importReadKey(readKey);
  let askedAt = 0;
  let readAt = 0;

  async function fetchKey(): Promise<Sign> {
    return importReadKey((await request<ReadKeys>("GET", "/files/read-keys")).current);
  }

  /**
   * A busy server signs with the old key while the new one is fetched. An idle one waits for it: links signed with a key
   * that was rotated since would never work. If the key cannot be fetched, the old one stays.
   */
  function getKey(now: number): Promise<Sign> {
    if (readKey === undefined && (key === undefined || now - askedAt > freshMs)) {
      askedAt = now;
      const before = key;
      const fetched = fetchKey();
      const isIdle = now - readAt > 2 * freshMs;
      key = before === undefined ? fetched : isIdle ? fetched.catch(() => before) : before;
      fetched.then(
        () => {
          key = fetched;
          readAt = now;
        },
        () => {
          key = before;
        },
      );
    }
    return key as Promise<Sign>;
  }

  const base = () => (cdnUrl ?? connection().baseUrl).replace(/\/+$/, "");

  return {
    async link(keyOrId: string, { expiresIn = defaultSec, download }: LinkOptions = {}): Promise<string> {
      checkLife(expiresIn, longest.link);
      const parts = keyOrId.split("/");
      const own = toSegment(parts.slice(3).join("/") || keyOrId);
      const name = typeof download === "string" ? toSegment(download) : own;
      const now = Date.now();
      const facts: LinkFacts = {
        fileId: parts[2] ?? keyOrId,
        signedAt: now,
        expiresAt: now + expiresIn * 1000,
        shown: typeof download === "string" ? "n" : download ? "a" : "i",
      };
      return `${base()}/s/${await signLink(await getKey(now), facts, name)}`;
    },

    async grant(body: CreateGrantBody): Promise<SignedGrant> {
      const { expiresIn = defaultSec, subject = "" } = body;
      checkLife(expiresIn, longest.grant);
      const now = Date.now();
      const expiresAt = now + expiresIn * 1000;
      const facts = { ...readScope(body), signedAt: now, expiresAt, subject };
      const token = await signGrant(await getKey(now), facts);
      const baseUrl = `${base()}/g/${token}`;
      return {
        token,
        baseUrl,
        expiresAt: new Date(expiresAt).toISOString(),
        url: (fileKey) => `${baseUrl}/${fileKey.split("/").map(encodeURIComponent).join("/")}`,
      };
    },
  };
}

export type Signer = ReturnType<typeof createSigner>;

function checkLife(expiresIn: number, most: number): void {
  if (Number.isInteger(expiresIn) && expiresIn >= 1 && expiresIn <= most) return;
  throw new UpstowError(`expiresIn must be a whole number of seconds from 1 to ${most}.`, {
    code: "VALIDATION_ERROR",
  });
}

function readScope({ routeSlug, prefix, audience }: CreateGrantBody): Pick<GrantFacts, "scope" | "value"> {
  const given: [GrantFacts["scope"], string | undefined][] = [
    ["r", routeSlug],
    ["p", prefix],
    ["a", audience],
  ];
  const named = given.filter((entry): entry is [GrantFacts["scope"], string] => Boolean(entry[1]));
  const [first] = named;
  if (first === undefined || named.length > 1)
    throw new UpstowError("A grant needs exactly one of routeSlug, prefix and audience.", {
      code: "VALIDATION_ERROR",
    });
  return { scope: first[0], value: first[1] };
}

/** A single path segment: no separators, and nothing that URL normalisation removes. */
function toSegment(name: string): string {
  // A lone surrogate can't be part of a URL either; the service replaces it the same way.
  const plain = name.replaceAll(/\p{Cs}/gu, "\ufffd").replaceAll(/[/\\\p{Cc}]/gu, "_");
  return /^\.{1,2}$/.test(plain) ? "_" : plain;
}

import { hash } from "node:crypto";

/** Where things lie in the bucket. Everything is below the installation's prefix, and nothing else is touched. */
export interface ObjectNames {
  /** As in the address of a file, so that a CDN can stand right in front of the bucket. */
  finalOf(key: string): string;
  finalPrefix: string;
  /** A client may write here as long as its URL is valid, so nobody is ever served from here. */
  stagedOf(key: string): string;
  stagedPrefix: string;
  probePrefix: string;
}

export function createObjectNames(prefix: string): ObjectNames {
  const [finalPrefix, stagedPrefix, probePrefix] = [`${prefix}f/`, `${prefix}staging/`, `${prefix}probe/`];
  return {
    finalOf: (key) => finalPrefix + key,
    finalPrefix,
    // Of one length, without a character that a client or a proxy could change on the way.
    stagedOf: (key) => stagedPrefix + hash("sha256", key),
    stagedPrefix,
    probePrefix,
  };
}

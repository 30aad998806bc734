import { METADATA_MAX_BYTES, METADATA_MAX_DEPTH } from "@upstow/contract";
import { invalid } from "../../kernel/errors.ts";

/** The text to store. `{}` itself has depth 1. */
export function serialiseMetadata(metadata: Record<string, unknown>): string {
  if (depthExceeds(metadata, METADATA_MAX_DEPTH)) {
    throw invalid("metadata", `must not be nested deeper than ${METADATA_MAX_DEPTH}`);
  }
  const text = JSON.stringify(metadata);
  if (Buffer.byteLength(text) > METADATA_MAX_BYTES) {
    throw invalid("metadata", `must not be larger than ${METADATA_MAX_BYTES / 1024} KiB`);
  }
  return text;
}

function depthExceeds(value: unknown, allowed: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return allowed === 0 || Object.values(value).some((item) => depthExceeds(item, allowed - 1));
}

import { METADATA_FILTER_MAX, METADATA_FILTERS_MAX } from "@upstow/contract";
import { invalid } from "../kernel/errors.ts";
import type { FoundFile, Terms } from "./search-queries.ts";

/** A top-level key of the metadata, and its value as text. */
export type MetadataPair = readonly [key: string, value: string];

const start = "metadata.";

/** Reads `metadata.<key>=<value>` from a query string. */
export function readPairs(query: object): MetadataPair[] {
  const pairs: MetadataPair[] = [];
  for (const [field, value] of Object.entries(query)) {
    if (!field.startsWith(start)) continue;
    const key = field.slice(start.length);
    if (key.length > METADATA_FILTER_MAX)
      throw invalid("metadata", `filters take keys of at most ${METADATA_FILTER_MAX} characters`);
    if (typeof value !== "string") throw invalid(field, "must be given once");
    if (value.length > METADATA_FILTER_MAX)
      throw invalid(field, `must have at most ${METADATA_FILTER_MAX} characters`);
    pairs.push([key, value]);
  }
  if (pairs.length > METADATA_FILTERS_MAX)
    throw invalid("metadata", `takes at most ${METADATA_FILTERS_MAX} filters`);
  return pairs;
}

/**
 * The database looks for the longest pair in the stored text, which finds nested ones too; `matchesPairs` decides. Its own
 * JSON functions would differ in how they write numbers and objects, and one of them fails on some texts.
 */
export function pairTerms(pairs: MetadataPair[]): Terms {
  const [longest] = pairs.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  if (longest === undefined) return {};
  const [key, value] = longest;
  const name = `${JSON.stringify(key)}:`;
  return {
    textPair: name + JSON.stringify(value),
    // Everything but text begins with one of these.
    ...(/^[-\d{[tfn]/.test(value)
      ? { otherPair: `${name}${value},`, otherPairAtEnd: `${name}${value}}` }
      : {}),
  };
}

const lengthOf = ([key, value]: MetadataPair) => key.length + value.length;

export function matchesPairs(pairs: MetadataPair[]): (file: FoundFile) => boolean {
  return (file) => {
    const metadata = JSON.parse(file.metadata) as Record<string, unknown>;
    return pairs.every(([key, value]) => Object.hasOwn(metadata, key) && textOf(metadata[key]) === value);
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

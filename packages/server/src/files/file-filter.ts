import { type FileQuery, METADATA_FILTER_MAX, METADATA_FILTERS_MAX } from "@upstow/contract";
import { invalid } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import { foldAnyCase, foldCase, type Span } from "./look-through.ts";
import type { FoundFile, Terms } from "./search/queries.ts";
import { mediaType } from "./uploads/media-type.ts";

export interface FileFilter {
  terms: Terms;
  /** Whether rows include their metadata. */
  withMetadata: boolean;
  /** Whether rows include what is known of images. */
  withImage?: boolean;
  /** Set if the terms can select files that do not match. */
  isMatch?: (file: FoundFile) => boolean;
}

type Query = Pick<FileQuery, "status" | "type" | "routeSlug" | "access" | "name" | "prefix" | "include">;

/** The ids whose files can match, and what to test on them; null if none can. */
export interface FileSelection {
  span: Span;
  filter: FileFilter;
}

export function selectFiles(
  query: Query,
  pairs: MetadataPair[],
  { projectId }: { projectId: string },
  span: Span,
): FileSelection | null {
  const { status, routeSlug, access, prefix = "" } = query;
  const within = narrow(span, prefix);
  if (within === null) return null;
  const type = typeFilter(query.type);
  const name = nameFilter(query.name);
  const tests = [type.isMatch, name.isMatch, pairs.length === 0 ? undefined : matchesPairs(pairs)];
  return {
    span: within,
    filter: {
      terms: {
        ...statusTerms(status),
        ...(routeSlug === undefined ? {} : { routeSlug }),
        ...(access === undefined ? {} : { access }),
        ...type.terms,
        ...(prefix === "" ? {} : { keyStart: `${projectId}/${prefix}` }),
        ...name.terms,
        ...pairTerms(pairs),
      },
      withMetadata: includes(query, "metadata") || pairs.length > 0,
      withImage: includes(query, "image"),
      ...allOf(tests),
    },
  };
}

export function includes({ include }: Pick<FileQuery, "include">, what: "metadata" | "image"): boolean {
  return include?.split(",").includes(what) ?? false;
}

export function statusTerms(status: string | undefined): Terms {
  if (status === undefined) return {};
  if (status === "FAILED") return { only: "failed" };
  return status === "DELETED" ? { only: "trashed" } : { status };
}

/** In a key the file's id follows the route, so the index can be used. Null if no id can begin like this. */
function narrow({ from, before }: Span, prefix: string): Span | null {
  const [, idStart, name] = prefix.split("/", 3);
  if (idStart === undefined) return { from, before };
  const isPossible = name === undefined ? isIdStart(idStart) : isId(idStart);
  if (!isPossible) return null;
  const end = `${idStart}~`;
  return { from: idStart > from ? idStart : from, before: end < before ? end : before };
}

function isIdStart(text: string): boolean {
  return text.length <= 26 && isId(text.padEnd(26, "0"));
}

interface Part {
  terms: Terms;
  isMatch?: (file: FoundFile) => boolean;
}

/** As in a route's allowedTypes, case and parameters are ignored. */
function typeFilter(type: string | undefined): Part {
  if (type === undefined || type === "*/*") return { terms: {} };
  const wanted = mediaType(type);
  if (wanted.endsWith("/*")) return { terms: { typeStart: wanted.slice(0, -1) } };
  return { terms: { typeStart: wanted }, isMatch: (file) => mediaType(file.type) === wanted };
}

/** The engines fold ASCII only. For other names they find those that contain one of the letters; the rest is done here. */
export function nameFilter(name = ""): Part {
  const [letter] = /[^\0-\x7f]/u.exec(name) ?? [];
  if (letter === undefined) return { terms: name === "" ? {} : { nameText: foldCase(name) } };
  const wanted = foldAnyCase(name);
  return {
    terms: { nameLetter: letter.toLowerCase(), nameOtherLetter: letter.toUpperCase() },
    isMatch: (file) => foldAnyCase(file.name).includes(wanted),
  };
}

function allOf(tests: Part["isMatch"][]): Pick<FileFilter, "isMatch"> {
  const given = tests.filter((test) => test !== undefined);
  return given.length === 0 ? {} : { isMatch: (file) => given.every((test) => test(file)) };
}

/** A top-level key of the metadata, and its value as text. */
type MetadataPair = readonly [key: string, value: string];

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
 * The database searches the stored text for the longest pair, which finds nested ones too; `matchesPairs` decides. The
 * engines' JSON functions write numbers and objects differently, and one of them fails on some texts.
 */
function pairTerms(pairs: MetadataPair[]): Terms {
  const [longest] = pairs.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  if (longest === undefined) return {};
  const [key, value] = longest;
  const name = `${JSON.stringify(key)}:`;
  return {
    textPair: name + JSON.stringify(value),
    // Every value except a string begins with one of these.
    ...(/^[-\d{[tfn]/.test(value)
      ? { otherPair: `${name}${value},`, otherPairAtEnd: `${name}${value}}` }
      : {}),
  };
}

const lengthOf = ([key, value]: MetadataPair) => key.length + value.length;

function matchesPairs(pairs: MetadataPair[]): (file: FoundFile) => boolean {
  return (file) => {
    const metadata = JSON.parse(file.metadata) as Record<string, unknown>;
    return pairs.every(([key, value]) => Object.hasOwn(metadata, key) && textOf(metadata[key]) === value);
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

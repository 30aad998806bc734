import {
  ACCESS_LEVELS,
  CONTENT_TYPE_MAX,
  FILE_STATUSES,
  Moment,
  SEARCH_TERM_MAX,
  SLUG_MAX,
  StringEnum,
  Type,
} from "@upstow/contract";
import { type FileFilter, nameFilter, statusTerms } from "../../files/file-filter.ts";
import { foldCase, inJson } from "../../files/look-through.ts";
import type { Terms } from "../../files/search/queries.ts";

const text = Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX }));
const time = Type.Optional(Moment);

export const searchTerms = {
  name: text,
  /** A whole type, or how it begins. */
  type: Type.Optional(Type.String({ maxLength: CONTENT_TYPE_MAX })),
  status: Type.Optional(StringEnum(FILE_STATUSES)),
  routeSlug: Type.Optional(Type.String({ maxLength: SLUG_MAX })),
  access: Type.Optional(StringEnum(ACCESS_LEVELS)),
  metadata: text,
  since: time,
  until: time,
};

export interface SearchQuery {
  name?: string;
  /** A whole type, or how it begins. */
  type?: string;
  status?: string;
  routeSlug?: string;
  access?: string;
  /** Text anywhere in the metadata; `name=value` also matches as a pair. */
  metadata?: string;
}

/** The dashboard's search filters: looser than the API's, and empty fields are ignored. */
export function toFilter(query: SearchQuery): FileFilter {
  const { name, type = "", status = "", routeSlug = "", access, metadata = "" } = query;
  const { terms, ...rest } = nameFilter(name);
  return {
    terms: {
      ...(status === "" ? {} : statusTerms(status)),
      ...(routeSlug === "" ? {} : { routeSlug }),
      ...(access === undefined ? {} : { access }),
      ...(type === "" ? {} : { typeStart: foldCase(type) }),
      ...terms,
      ...(metadata === "" ? {} : metadataTerms(metadata)),
    },
    withMetadata: false,
    withImage: true,
    ...rest,
  };
}

function metadataTerms(text: string): Terms {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const anywhere = foldCase(inJson(text));
  if (name === undefined || value === undefined) return { metadataText: anywhere };
  const pairName = foldCase(`"${inJson(name.trim())}":`);
  const wanted = foldCase(inJson(value.trim()));
  return {
    pairName,
    pairAsText: `${pairName}"${wanted}"`,
    pairBeforeComma: `${pairName}${wanted},`,
    pairBeforeBrace: `${pairName}${wanted}}`,
    pairAnywhere: anywhere,
  };
}

import { type FileFilter, nameFilter, statusTerms } from "../../files/file-filter.ts";
import { foldCase } from "../../files/search/text-match.ts";
import type { Terms } from "../../files/search-queries.ts";

export interface SearchQuery {
  name?: string;
  /** A whole type, or how it begins. */
  type?: string;
  status?: string;
  routeSlug?: string;
  /** Text anywhere in the metadata; `name=value` is looked for as a pair too. */
  metadata?: string;
}

/** What the dashboard searches by: looser than the API's filters, and an empty field is none. */
export function toFilter(query: SearchQuery): FileFilter {
  const { name, type = "", status = "", routeSlug = "", metadata = "" } = query;
  const { terms, ...rest } = nameFilter(name);
  return {
    terms: {
      ...(status === "" ? {} : statusTerms(status)),
      ...(routeSlug === "" ? {} : { routeSlug }),
      ...(type === "" ? {} : { typeStart: foldCase(type) }),
      ...terms,
      ...(metadata === "" ? {} : metadataTerms(metadata)),
    },
    withMetadata: false,
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

/** As the text is written inside of a JSON string. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

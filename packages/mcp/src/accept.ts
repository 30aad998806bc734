export type Format = "json" | "events";

const types: Record<Format, string> = { json: "application/json", events: "text/event-stream" };

interface Match {
  quality: number;
  /** Of the range in the header that matched. */
  position: number;
}

/**
 * The response format a client prefers by its Accept header: the higher quality, then the first listed. Clients should
 * list both; those that omit one, or the header, are still served. Null if it accepts neither.
 */
export function preferredFormat(accept: string | null): Format | null {
  const ranges = parseRanges(accept ?? "*/*");
  const json = findMatch(ranges, types.json);
  const events = findMatch(ranges, types.events);
  if (json.quality === 0 && events.quality === 0) return null;
  if (json.quality !== events.quality) return json.quality > events.quality ? "json" : "events";
  return json.position <= events.position ? "json" : "events";
}

interface Range {
  type: string;
  quality: number;
}

function parseRanges(accept: string): Range[] {
  return accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const given = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 };
  });
}

/** The most specific range decides, as RFC 9110 has it. */
function findMatch(ranges: Range[], type: string): Match {
  for (const candidate of [type, type.replace(/\/.*/, "/*"), "*/*"]) {
    const position = ranges.findIndex((range) => range.type === candidate);
    const match = ranges[position];
    if (match !== undefined) return { quality: match.quality, position };
  }
  return { quality: 0, position: ranges.length };
}

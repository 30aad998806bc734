/** `fallback` is PNG or JPEG; only the renderer, which sees whether the source has alpha, can tell. */
export type NegotiatedFormat = "avif" | "webp" | "fallback";

/**
 * What a client gets for `f_auto`. A format must be named: clients that can show neither send wildcards too.
 * Where a header names a format twice, a refusal wins, for every client can show the fallback.
 */
export function negotiateFormat(accept: string | undefined): NegotiatedFormat {
  const qualities = new Map<string, number>();
  for (const range of (accept ?? "").toLowerCase().split(",")) {
    const [type = "", ...params] = range.split(";").map((part) => part.trim());
    qualities.set(type, Math.min(qualities.get(type) ?? 1, readQuality(params)));
  }
  if ((qualities.get("image/avif") ?? 0) > 0) return "avif";
  if ((qualities.get("image/webp") ?? 0) > 0) return "webp";
  return "fallback";
}

function readQuality(params: string[]): number {
  const given = params.find((param) => param.startsWith("q="));
  if (given === undefined) return 1;
  const match = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(given);
  return match === null ? 0 : Number(match[1]);
}

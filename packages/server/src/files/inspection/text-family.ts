/** Null unless the bytes are text: valid UTF-8 or UTF-16 with a byte order mark, without control characters. */
export function readText(head: Buffer, isWhole: boolean): string | null {
  const mark = head.toString("latin1", 0, 2);
  if (mark === "\xff\xfe" || mark === "\xfe\xff")
    return decode(head, mark === "\xff\xfe" ? "utf-16le" : "utf-16be", isWhole);
  return decode(head, "utf-8", isWhole);
}

function decode(head: Buffer, encoding: string, isWhole: boolean): string | null {
  try {
    // The last character may be cut.
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: !isWhole });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they are looked for
    return /[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** What comes before the first element: declarations, comments, processing instructions. */
const preamble = /^(?:\s+|<!--[\s\S]*?-->|<\?(?!php)[\s\S]*?\?>|<!DOCTYPE\s(?:[^[>]|\[[\s\S]*?\]\s*)*>)/i;
const htmlElements =
  /^<(?:html|head|body|script|iframe|title|style|link|meta|base|table|div|h[1-6]|form|img|svg|math|object|embed|video|audio|a|p|b|br|font|center)(?=[\s/>])/i;

/** Text formats that browsers or servers run, and those with an unmistakable start; null for all other text. */
export function findTextType(text: string): string | null {
  if (/^\s*<\?php\s/i.test(text)) return "application/x-httpd-php";
  let rest = text.replace(/^\uFEFF/, "");
  let isXml = false;
  for (let found = preamble.exec(rest); found !== null; found = preamble.exec(rest)) {
    const [part] = found;
    if (/^<\?xml[\s?]/.test(part)) isXml = true;
    if (/^<!DOCTYPE\s+html/i.test(part)) return isXml ? "application/xhtml+xml" : "text/html";
    if (/^<!DOCTYPE\s+svg/i.test(part)) return "image/svg+xml";
    rest = rest.slice(part.length);
  }
  if (/^<(?:[\w.-]+:)?svg(?=[\s/>])/.test(rest)) return "image/svg+xml";
  if (/^<html(?=[\s/>])/i.test(rest)) return isXml ? "application/xhtml+xml" : "text/html";
  if (isXml) return "application/xml";
  return htmlElements.test(rest) ? "text/html" : null;
}

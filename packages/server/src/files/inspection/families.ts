/** Maximum bytes read from a ZIP: its end, which locates the directory, and the directory. */
export const zipTailBytes = 64 * 1024 + 22;
export const zipDirectoryBytes = 256 * 1024;
const mostEntries = 4096;

export interface ByteStretch {
  start: number;
  length: number;
}

const endMark = 0x06054b50;
const entryMark = 0x02014b50;

export function isZip(head: Buffer): boolean {
  return ["PK\x03\x04", "PK\x05\x06"].includes(head.toString("latin1", 0, 4));
}

/** Where the directory lies, as the last end record says; null if there is none. At most what may be read of it. */
export function findZipDirectory(tail: Buffer, sizeBytes: number): ByteStretch | null {
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endMark) continue;
    const length = tail.readUInt32LE(at + 12);
    const start = tail.readUInt32LE(at + 16);
    // Also for ZIP64, whose real values stand elsewhere: its beginning has to be enough then.
    if (start + length > sizeBytes) return null;
    return { start, length: Math.min(length, zipDirectoryBytes) };
  }
  return null;
}

export function listZipNames(directory: Buffer): string[] {
  const names: string[] = [];
  let at = 0;
  while (names.length < mostEntries && at + 46 <= directory.length) {
    if (directory.readUInt32LE(at) !== entryMark) break;
    const nameBytes = directory.readUInt16LE(at + 28);
    const extraBytes = directory.readUInt16LE(at + 30);
    const commentBytes = directory.readUInt16LE(at + 32);
    names.push(directory.toString("utf8", at + 46, at + 46 + nameBytes));
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  return names;
}

const office = "application/vnd.openxmlformats-officedocument";
const families: [type: string, isMember: (has: (start: string) => boolean) => boolean][] = [
  ["application/vnd.android.package-archive", (has) => has("AndroidManifest.xml")],
  ["application/vnd.ms-word.document.macroenabled.12", (has) => has("word/vbaProject.bin")],
  ["application/vnd.ms-excel.sheet.macroenabled.12", (has) => has("xl/vbaProject.bin")],
  ["application/vnd.ms-powerpoint.presentation.macroenabled.12", (has) => has("ppt/vbaProject.bin")],
  [`${office}.wordprocessingml.document`, (has) => has("[Content_Types].xml") && has("word/")],
  [`${office}.spreadsheetml.sheet`, (has) => has("[Content_Types].xml") && has("xl/")],
  [`${office}.presentationml.presentation`, (has) => has("[Content_Types].xml") && has("ppt/")],
  ["application/vnd.visio", (has) => has("[Content_Types].xml") && has("visio/")],
  ["model/3mf", (has) => has("[Content_Types].xml") && has("3D/")],
  ["application/vnd.apple.keynote", (has) => has("Index/Document.iwa") && has("Index/MasterSlide")],
  ["application/vnd.apple.numbers", (has) => has("Index/Document.iwa") && has("Index/Tables/")],
  ["application/vnd.apple.pages", (has) => has("Index/Document.iwa")],
  ["application/x-ios-app", (has) => has("Payload/")],
  ["application/java-archive", (has) => has("META-INF/MANIFEST.MF")],
  ["application/vnd.google-earth.kmz", (has) => has("doc.kml")],
];

/** The first entry of these is stored, and names the type. */
const namedInside = /^(application\/(epub\+zip|vnd\.oasis\.opendocument\.[a-z-]+))/;

/** The kind of ZIP by its directory; null if there is none, as in a truncated file. */
export function findZipFamily(head: Buffer, directory: Buffer | null): string | null {
  if (directory === null) return null;
  // Office finds the parts of a document whatever the case of their names.
  const names = listZipNames(directory).map((name) => name.toLowerCase());
  if (head.length > 38 && head.readUInt16LE(26) === 8 && head.toString("latin1", 30, 38) === "mimetype") {
    const start = 38 + head.readUInt16LE(28);
    const named = namedInside.exec(head.toString("latin1", start, start + 100))?.[1];
    if (named !== undefined) return named;
  }
  const has = (start: string) => names.some((name) => name.startsWith(start.toLowerCase()));
  return families.find(([, isMember]) => isMember(has))?.[0] ?? "application/zip";
}

/** What may be markup in any encoding, of which only the ASCII characters count: browsers guess, and skip zeros. */
export const readMarkup = (head: Buffer): string =>
  head
    .toString("latin1")
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, "")
    .replaceAll("\0", "");

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

/**
 * What comes before the first element: declarations, comments, processing instructions. It matches in one way only, so
 * that no text takes long.
 */
const preamble =
  /^(?:\s+|<!--(?:-?>|[\s\S]*?-->)|<\?(?!php)[\s\S]*?\?>|<!DOCTYPE\s[^[>]*(?:\[[\s\S]*?\]\s*)?>)/i;
const htmlElements =
  /^<(?:html|head|body|script|iframe|title|style|link|meta|base|table|div|h[1-6]|form|img|svg|math|object|embed|video|audio|a|p|b|br|font|center)(?=[\s/>])/i;

/** Text formats that browsers or servers run, and those with an unmistakable start; null for all other text. */
export function findTextType(text: string): string | null {
  if (/^\s*<\?php\s/i.test(text)) return "application/x-httpd-php";
  let rest = text;
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

/** The container of Microsoft's former formats: its directory names the streams of Word, Excel and so on. */
export function isCompound(head: Buffer): boolean {
  return head.toString("latin1", 0, 8) === "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" && head.length >= 512;
}

const directoryBytes = 4096;

export function findCompoundDirectory(head: Buffer, sizeBytes: number): ByteStretch | null {
  const sectorBytes = head.readUInt16LE(30) === 12 ? 4096 : 512;
  const start = (head.readUInt32LE(48) + 1) * sectorBytes;
  return start >= sizeBytes ? null : { start, length: Math.min(directoryBytes, sizeBytes - start) };
}

const compoundFamilies: [stream: string, type: string][] = [
  ["WordDocument", "application/msword"],
  ["Workbook", "application/vnd.ms-excel"],
  ["Book", "application/vnd.ms-excel"],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
  ["VisioDocument", "application/vnd.visio"],
  ["__properties_version1.0", "application/vnd.ms-outlook"],
];

/** Names of streams have 64 bytes at the start of entries of 128. */
export function findCompoundFamily(directory: Buffer | null): string {
  const names = new Set<string>();
  for (let at = 0; directory !== null && at + 128 <= directory.length; at += 128) {
    const nameBytes = Math.min(64, directory.readUInt16LE(at + 64));
    names.add(directory.toString("utf16le", at, at + Math.max(0, nameBytes - 2)));
  }
  return compoundFamilies.find(([stream]) => names.has(stream))?.[1] ?? "application/x-cfb";
}

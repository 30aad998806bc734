/** What is read of a ZIP at most: the end, where its directory is found, and the directory. */
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

/** The kind of ZIP by its directory; null where there is none, as in one that was cut off. */
export function findZipFamily(head: Buffer, directory: Buffer | null): string | null {
  if (directory === null) return null;
  const names = listZipNames(directory);
  if (head.length > 38 && head.readUInt16LE(26) === 8 && head.toString("latin1", 30, 38) === "mimetype") {
    const start = 38 + head.readUInt16LE(28);
    const named = namedInside.exec(head.toString("latin1", start, start + 100))?.[1];
    if (named !== undefined) return named;
  }
  const has = (start: string) => names.some((name) => name.startsWith(start));
  return families.find(([, isMember]) => isMember(has))?.[0] ?? "application/zip";
}

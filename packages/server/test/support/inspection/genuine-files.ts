import { brotliCompressSync, gzipSync } from "node:zlib";
import sharp from "sharp";
import { makeZip } from "./make-zip.ts";

export interface GenuineFile {
  name: string;
  /** As the service names it; null for formats without a signature. */
  type: string | null;
  /** As a client declares it, where that is another name. */
  declared: string;
  bytes: Buffer;
}

const latin = (text: string, padBytes = 64) =>
  Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(padBytes)]);
const box = (brand: string) => latin(`\0\0\0\x18ftyp${brand}\0\0\0\0${brand}isom`, 200);
const ebml = (docType: string) =>
  latin(
    `\x1a\x45\xdf\xa3\x93\x42\x82${String.fromCharCode(0x80 + docType.length)}${docType}\x42\x87\x81\x04\x42\x85\x81\x02`,
  );
const ogg = (codec: string) => latin(`OggS\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x1e${codec}`);
const office = (folder: string, more: Record<string, string> = {}) =>
  makeZip({
    "[Content_Types].xml": "<Types/>",
    "_rels/.rels": "<R/>",
    [`${folder}/document.xml`]: "<d/>",
    ...more,
  });
const documentNamed = (mimetype: string) =>
  makeZip({ mimetype, "META-INF/manifest.xml": "<m/>", "content.xml": "<c/>" });

/** A compound file whose directory has this stream. */
function compound(stream: string): Buffer {
  const bytes = Buffer.alloc(512 * 4);
  bytes.write("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "latin1");
  bytes.writeUInt16LE(9, 30);
  bytes.writeUInt32LE(1, 48);
  for (const [i, name] of ["Root Entry", stream].entries()) {
    bytes.write(name, 1024 + i * 128, "utf16le");
    bytes.writeUInt16LE(2 * name.length + 2, 1024 + i * 128 + 64);
  }
  return bytes;
}

function tar(): Buffer {
  const header = Buffer.alloc(512);
  header.write("a.txt");
  header.write("0000644\0", 100);
  header.write("00000000000\0", 124);
  header.write("        ", 148);
  header.write("0ustar\x0000", 156, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([header, Buffer.alloc(1024)]);
}

function bitmap(): Buffer {
  const bytes = Buffer.alloc(58);
  bytes.write("BM");
  bytes.writeUInt32LE(58, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  return bytes;
}

const ofOffice = "application/vnd.openxmlformats-officedocument";
const ofOpen = "application/vnd.oasis.opendocument";

/** Real files, made here: pictures by the library that reads them, others with the headers of their formats. */
export async function makeGenuineFiles(): Promise<GenuineFile[]> {
  const picture = sharp({ create: { width: 24, height: 16, channels: 3, background: "#c40" } });
  const png = await picture.png().toBuffer();
  const rows: [name: string, type: string | null, bytes: Buffer, declared?: string][] = [
    ["a.jpg", "image/jpeg", await picture.jpeg().toBuffer()],
    ["a.png", "image/png", png],
    ["a.webp", "image/webp", await picture.webp().toBuffer()],
    ["a.gif", "image/gif", await picture.gif().toBuffer()],
    ["a.avif", "image/avif", await picture.avif().toBuffer()],
    ["a.tif", "image/tiff", await picture.tiff().toBuffer()],
    ["a.bmp", "image/bmp", bitmap()],
    ["a.ico", "image/vnd.microsoft.icon", latin("\0\0\x01\0\x01\0\x10\x10\0\0\x01\0"), "image/x-icon"],
    ["a.psd", "image/vnd.adobe.photoshop", latin("8BPS\0\x01\0\0\0\0\0\0\0\x03")],
    ["a.heic", "image/heic", box("heic")],
    ["a.jxl", "image/jxl", latin("\0\0\0\x0cJXL \r\n\x87\n")],
    ["a.jp2", "image/jp2", latin("\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 ")],
    ["a.icns", "image/icns", latin("icns\0\0\0\x48")],
    ["a.svg", "image/svg+xml", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>')],
    ["b.svg", "image/svg+xml", Buffer.from('<?xml version="1.0"?>\n<!-- drawn -->\n<svg width="1"/>')],
    ["a.mp4", "video/mp4", box("isom")],
    ["a.m4v", "video/x-m4v", box("M4V ")],
    ["a.mov", "video/quicktime", box("qt  ")],
    ["a.m4a", "audio/mp4", box("M4A "), "audio/x-m4a"],
    ["a.3gp", "video/3gpp", box("3gp4")],
    ["a.webm", "video/webm", ebml("webm")],
    ["b.webm", "video/webm", ebml("webm"), "audio/webm"],
    ["a.mkv", "video/x-matroska", ebml("matroska")],
    ["a.avi", "video/x-msvideo", latin("RIFF\x40\0\0\0AVI LIST")],
    ["a.flv", "video/x-flv", latin("FLV\x01\x05\0\0\0\x09")],
    ["a.mpg", "video/mpeg", latin("\0\0\x01\xba\x44\0\x04\0")],
    ["a.mp3", "audio/mpeg", latin("ID3\x03\0\0\0\0\0\x0a", 200)],
    ["b.mp3", "audio/mpeg", latin("\xff\xfb\x90\x64", 500), "audio/mp3"],
    ["a.wav", "audio/wav", latin("RIFF\x40\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0"), "audio/x-wav"],
    ["a.flac", "audio/flac", latin("fLaC\0\0\0\x22")],
    ["a.ogg", "audio/ogg", ogg("\x01vorbis")],
    ["a.opus", "audio/ogg", ogg("OpusHead"), "audio/opus"],
    ["a.ogv", "video/ogg", ogg("\x80theora")],
    ["a.mid", "audio/midi", latin("MThd\0\0\0\x06\0\x01")],
    ["a.aiff", "audio/aiff", latin("FORM\0\0\0\x40AIFFCOMM")],
    ["a.amr", "audio/amr", latin("#!AMR\n\x3c")],
    ["a.pdf", "application/pdf", Buffer.from("%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n")],
    ["a.ps", "application/postscript", Buffer.from("%!PS-Adobe-3.0\n%%Pages: 1\n")],
    ["a.rtf", "application/rtf", Buffer.from("{\\rtf1\\ansi hello}"), "text/rtf"],
    ["a.zip", "application/zip", makeZip({ "a.txt": "hello", "b/c.txt": "there" })],
    ["b.zip", "application/zip", makeZip({}), "application/x-zip-compressed"],
    ["a.docx", `${ofOffice}.wordprocessingml.document`, office("word")],
    ["a.xlsx", `${ofOffice}.spreadsheetml.sheet`, office("xl")],
    ["a.pptx", `${ofOffice}.presentationml.presentation`, office("ppt")],
    [
      "a.docm",
      "application/vnd.ms-word.document.macroenabled.12",
      office("word", { "word/vbaProject.bin": "vba" }),
    ],
    ["a.odt", `${ofOpen}.text`, documentNamed(`${ofOpen}.text`)],
    ["a.ods", `${ofOpen}.spreadsheet`, documentNamed(`${ofOpen}.spreadsheet`)],
    ["a.odp", `${ofOpen}.presentation`, documentNamed(`${ofOpen}.presentation`)],
    ["a.epub", "application/epub+zip", documentNamed("application/epub+zip")],
    [
      "a.jar",
      "application/java-archive",
      makeZip({ "META-INF/MANIFEST.MF": "Manifest-Version: 1.0", "A.class": "\xca" }),
    ],
    [
      "a.apk",
      "application/vnd.android.package-archive",
      makeZip({ "AndroidManifest.xml": "x", "classes.dex": "x" }),
    ],
    ["a.kmz", "application/vnd.google-earth.kmz", makeZip({ "doc.kml": "<kml/>" })],
    ["a.doc", "application/msword", compound("WordDocument")],
    ["a.xls", "application/vnd.ms-excel", compound("Workbook")],
    ["a.ppt", "application/vnd.ms-powerpoint", compound("PowerPoint Document")],
    ["a.msi", "application/x-cfb", compound("Tables"), "application/x-msi"],
    ["a.tar", "application/x-tar", tar()],
    ["a.gz", "application/gzip", gzipSync("hello"), "application/x-gzip"],
    ["a.bz2", "application/x-bzip2", latin("BZh91AY&SY\x9e\xff")],
    ["a.xz", "application/x-xz", latin("\xfd7zXZ\0\0\x04")],
    ["a.zst", "application/zstd", latin("\x28\xb5\x2f\xfd\x04")],
    ["a.7z", "application/x-7z-compressed", latin("7z\xbc\xaf\x27\x1c\0\x04")],
    ["a.rar", "application/vnd.rar", latin("Rar!\x1a\x07\x01\0")],
    ["a.exe", "application/x-msdownload", latin("MZ\x90\0\x03\0\0\0\x04")],
    ["a.elf", "application/x-elf", latin("\x7fELF\x02\x01\x01")],
    ["a.macho", "application/x-mach-binary", latin("\xcf\xfa\xed\xfe\x07\0\0\x01")],
    ["a.wasm", "application/wasm", latin("\0asm\x01\0\0\0")],
    ["a.class", "application/java-vm", latin("\xca\xfe\xba\xbe\0\0\0\x34")],
    [
      "a.deb",
      "application/x-deb",
      latin("!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n2.0\n"),
    ],
    ["a.sqlite", "application/x-sqlite3", latin("SQLite format 3\0\x10\0\x01\x01")],
    ["a.swf", "application/x-shockwave-flash", latin("CWS\x0a\x40\0\0\0")],
    ["a.woff", "font/woff", latin("wOFF\0\x01\0\0\0\0\0\x40")],
    ["a.woff2", "font/woff2", latin("wOF2\0\x01\0\0\0\0\0\x40")],
    ["a.ttf", "font/ttf", latin("\0\x01\0\0\0\x0c\0\x80")],
    ["a.otf", "font/otf", latin("OTTO\0\x0c\0\x80")],
    ["a.glb", "model/gltf-binary", latin("glTF\x02\0\0\0\x40\0\0\0")],
    ["a.html", "text/html", Buffer.from("<!DOCTYPE html>\n<title>a</title>")],
    ["b.html", "text/html", Buffer.from("\ufeff<!-- x -->\n<script>alert(1)</script>")],
    [
      "a.xhtml",
      "application/xhtml+xml",
      Buffer.from('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'),
    ],
    ["a.xml", "application/xml", Buffer.from('<?xml version="1.0"?><note/>'), "text/xml"],
    [
      "a.gpx",
      "application/xml",
      Buffer.from('<?xml version="1.0"?><gpx version="1.1"/>'),
      "application/gpx+xml",
    ],
    ["a.php", "application/x-httpd-php", Buffer.from("<?php system($_GET['c']);"), "application/x-php"],
    ["a.vcf", "text/vcard", Buffer.from("BEGIN:VCARD\nVERSION:3.0\n")],
    ["a.ics", "text/calendar", Buffer.from("BEGIN:VCALENDAR\nVERSION:2.0\n")],
    ["a.vtt", "text/vtt", Buffer.from("WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n")],
    ["a.txt", null, Buffer.from("Dear reader, this is a text.\n"), "text/plain"],
    ["b.txt", null, Buffer.from("BMW is not a bitmap, and MZ no program.\n"), "text/plain"],
    ["c.txt", null, Buffer.from("\ufeffGrüße aus Łódź\n", "utf16le"), "text/plain"],
    ["a.csv", null, Buffer.from("a,b\n1,2\n"), "text/csv"],
    ["a.json", null, Buffer.from('{"a":1}'), "application/json"],
    ["a.md", null, Buffer.from("# Title\n\n<b>bold</b>"), "text/markdown"],
    ["a.js", null, Buffer.from("#!/usr/bin/env node\nexport {};\n"), "text/javascript"],
    ["a.br", null, brotliCompressSync(Buffer.alloc(100, "some text ")), "application/x-brotli"],
  ];
  return rows.map(([name, type, bytes, declared = type ?? ""]) => ({ name, type, declared, bytes }));
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { findCommand } from "../../../../scripts/debian-packages.mjs";
import { stripMetadata } from "./index.ts";

const exiftoolMissing = findCommand("exiftool") === null && "exiftool is not installed on this machine";

const bytesOf = (part: string | Buffer) => (typeof part === "string" ? Buffer.from(part, "latin1") : part);
const concat = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map(bytesOf));
const bigEndian = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i);
  return bytes;
};

type Field = [tag: number, value: number | Directory];
type Directory = Field[];

/** EXIF whose directories follow each other, and a place in the one that has the tag for it. */
function makeExif(chain: Directory[], behind: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(2048);
  bytes.write("MM\0*\0\0\0\x08", "latin1");
  let free = 8;
  const reserve = (count: number) => {
    const at = free;
    free += count;
    return at;
  };
  const write = (directory: Directory, next: (end: number) => number) => {
    const at = reserve(2 + 12 * directory.length + 4);
    bytes.writeUInt16BE(directory.length, at);
    for (const [i, [tag, value]] of directory.entries()) {
      const entry = at + 2 + 12 * i;
      bytes.writeUInt16BE(tag, entry);
      bytes.writeUInt16BE(typeof value === "number" && tag === orientation ? 3 : 4, entry + 2);
      bytes.writeUInt32BE(1, entry + 4);
      if (tag === orientation) bytes.writeUInt16BE(Number(value), entry + 8);
      else if (tag === place) bytes.writeUInt32BE(writePlace(), entry + 8);
      else if (tag === thumbnail) bytes.writeUInt32BE(bytes.length, entry + 8);
      else bytes.writeUInt32BE(typeof value === "number" ? value : write(value, () => 0), entry + 8);
    }
    bytes.writeUInt32BE(next(at), at + 2 + 12 * directory.length);
    return at;
  };
  const writePlace = () => {
    const at = reserve(2 + 12 * 4 + 4 + 48);
    const degrees = at + 2 + 12 * 4 + 4;
    const fields = [
      [1, 2, 2, 0x4e000000],
      [2, 5, 3, degrees],
      [3, 2, 2, 0x45000000],
      [4, 5, 3, degrees + 24],
    ] as const;
    bytes.writeUInt16BE(fields.length, at);
    for (const [i, [tag, type, count, value]] of fields.entries()) {
      bytes.writeUInt16BE(tag, at + 2 + 12 * i);
      bytes.writeUInt16BE(type, at + 4 + 12 * i);
      bigEndian(count, value).copy(bytes, at + 6 + 12 * i);
    }
    bigEndian(48, 1, 12, 1, 29, 1, 16, 1, 22, 1, 25, 1).copy(bytes, degrees);
    return at;
  };
  const writeChain = ([first, ...rest]: Directory[]): number =>
    first === undefined ? 0 : write(first, () => writeChain(rest));
  writeChain(chain);
  return concat(bytes, behind);
}

const orientation = 0x0112;
const exposure = 0x8769;
const thumbnail = 0x0201;
const thumbnailBytes = 0x0202;
const place = 0x8825;
const placed = makeExif([
  [
    [orientation, 6],
    [place, 0],
  ],
]);

const xmp = (encoding: "utf8" | "utf16le") =>
  Buffer.from(
    `\uFEFF<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>
    <rdf:Description rdf:about='' xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:GPSLatitude='48,12.492N'/>
    </rdf:RDF></x:xmpmeta><?xpacket end='w'?>`,
    encoding,
  );

/** In front of all other segments. */
function addSegment(jpeg: Buffer, marker: number, ...parts: (string | Buffer)[]): Buffer {
  const data = concat(...parts);
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return concat(jpeg.subarray(0, 2), head, data, jpeg.subarray(2));
}

function addPngChunk(png: Buffer, type: string, ...parts: (string | Buffer)[]): Buffer {
  const data = concat(...parts);
  const body = concat(type, data);
  return concat(png.subarray(0, 33), bigEndian(data.length), body, bigEndian(crc32(body)), png.subarray(33));
}

function addWebpChunk(webp: Buffer, type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, "latin1");
  head.writeUInt32LE(data.length, 4);
  const added = concat(webp, head, data, Buffer.alloc(data.length % 2));
  added.writeUInt32LE(added.length - 8, 4);
  return added;
}

/** Thermal cameras write blocks of their own, and a record with where they were. */
function makeFlirBlock(): Buffer {
  const [head, directory, record] = [Buffer.alloc(64), Buffer.alloc(32), Buffer.alloc(152)];
  head.write("FFF");
  bigEndian(100, head.length, 1).copy(head, 20);
  directory.writeUInt16BE(0x2b);
  bigEndian(head.length + directory.length, record.length).copy(directory, 12);
  record.writeUInt32LE(1);
  record.write("N", 8);
  record.writeDoubleLE(48.2082, 16);
  return concat("FLIR\0\x01\0\0", head, directory, record);
}

function makeGoProBlock(): Buffer {
  const box = (name: string, type: string, size: number, count: number, data: Buffer) => {
    const head = concat(name, type, Buffer.from([size, 0, 0]));
    head.writeUInt16BE(count, 6);
    return concat(head, data);
  };
  const scale = box("SCAL", "l", 4, 5, bigEndian(10_000_000, 10_000_000, 1000, 1000, 100));
  const stream = concat(scale, box("GPS5", "l", 20, 1, bigEndian(482_082_000, 163_738_000, 171_000, 0, 0)));
  const device = box("STRM", "\0", 1, stream.length, stream);
  return concat("GoPro\0", box("DEVC", "\0", 1, device.length, device));
}

describe("stripping metadata", { skip: exiftoolMissing }, () => {
  const picture = sharp({ create: { width: 20, height: 10, channels: 3, background: "#147" } });

  async function makePictures() {
    const jpeg = await picture.clone().jpeg().toBuffer();
    const png = await picture.clone().png().toBuffer();
    const webp = await picture
      .clone()
      .withExif({ IFD0: { Make: "Upstow" } })
      .webp()
      .toBuffer();
    const small = addSegment(jpeg, 0xe1, "Exif\0\0", placed);
    const withThumbnail = makeExif(
      [
        [[orientation, 6]],
        [
          [thumbnail, 0],
          [thumbnailBytes, small.length],
        ],
      ],
      small,
    );
    const digits = concat("Exif\0\0", placed).toString("hex");
    const pictures: Record<string, Buffer> = {
      "in the directory of the exposure.jpg": addSegment(
        jpeg,
        0xe1,
        "Exif\0\0",
        makeExif([
          [
            [orientation, 6],
            [exposure, [[place, 0]]],
          ],
        ]),
      ),
      "in the directory of the thumbnail.jpg": addSegment(
        jpeg,
        0xe1,
        "Exif\0\0",
        makeExif([[[orientation, 6]], [[place, 0]]]),
      ),
      "in the thumbnail.jpg": addSegment(jpeg, 0xe1, "Exif\0\0", withThumbnail),
      "in EXIF over two segments.jpg": addSegment(
        addSegment(jpeg, 0xe1, "Exif\0\0", placed.subarray(30)),
        0xe1,
        "Exif\0\0",
        placed.subarray(0, 30),
      ),
      "in EXIF without a proper prefix.jpg": addSegment(jpeg, 0xe1, "\0\0exif\0\0", placed),
      "in UTF-16.jpg": addSegment(jpeg, 0xe1, "http://ns.adobe.com/xap/1.0/\0", xmp("utf16le")),
      "in a comment.jpg": addSegment(jpeg, 0xfe, "GPS 48.2082 16.3738"),
      "in a block of FLIR.jpg": addSegment(jpeg, 0xe1, makeFlirBlock()),
      "in a block of GoPro.jpg": addSegment(jpeg, 0xe6, makeGoProBlock()),
      "behind a prefix.png": addPngChunk(png, "eXIf", "Exif\0\0", placed),
      "compressed.png": addPngChunk(png, "zxIf", "\0", bigEndian(placed.length), deflateSync(placed)),
      "in a chunk of XMP.png": addPngChunk(png, "tXMP", xmp("utf8")),
      "in digits.png": addPngChunk(
        png,
        "tEXt",
        `raw profile type APP1\0\nexif\n${digits.length / 2}\n${digits}\n`,
      ),
      "in UTF-16.webp": addWebpChunk(webp, "XMP ", xmp("utf16le")),
      "in a list.webp": addWebpChunk(webp, "LIST", concat("INFOICMT\x0c\0\0\0", "GPS 48.2082\0")),
    };
    return pictures;
  }

  /** By name, and with those of thumbnails. All at once, because starting exiftool takes longer than reading a file. */
  function readTags(pictures: Map<string, Buffer>): Map<string, string> {
    const folder = mkdtempSync(join(tmpdir(), "upstow-shapes-"));
    const run = (...args: string[]) =>
      execFileSync("exiftool", [...args, folder], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      });
    for (const [name, bytes] of pictures) writeFileSync(join(folder, name), bytes);
    const found = new Map([...pictures.keys()].map((name) => [name, ""]));
    run("-q", "-b", "-ThumbnailImage", "-w", "%d%f.thumbnail");
    const [, ...parts] = run("-a", "-G1", "-s", "-ee", "-ext", "*").split(/^======== .*\/(.+)$/m);
    for (let i = 0; i < parts.length; i += 2) {
      const name = (parts[i] ?? "").replace(/thumbnail$/, "jpg");
      found.set(name, `${found.get(name)}${parts[i + 1]}`);
    }
    rmSync(folder, { recursive: true });
    return found;
  }

  it("leaves no place in any of the shapes that cameras and programs give it", async () => {
    const pictures = Object.entries(await makePictures());
    const strip = (original: Buffer, how: "gps" | "all") => {
      const bytes = Buffer.from(original);
      stripMetadata(bytes, how);
      return bytes;
    };
    const ways = ["gps", "all"] as const;
    const tags = readTags(
      new Map([
        ...pictures,
        ...ways.flatMap((how) =>
          pictures.map(([name, bytes]): [string, Buffer] => [`${how} ${name}`, strip(bytes, how)]),
        ),
      ]),
    );
    for (const [name, original] of pictures) {
      assert.match(tags.get(name) ?? "", /GPS/, name);
      for (const how of ways) {
        assert.match(tags.get(`${how} ${name}`) ?? "", /MIMEType/);
        assert.doesNotMatch(tags.get(`${how} ${name}`) ?? "", /GPS/, `${how} ${name}`);
        const bytes = strip(original, how);
        assert.deepEqual(await sharp(bytes).raw().toBuffer(), await sharp(original).raw().toBuffer(), name);
        assert.equal(stripMetadata(bytes, how), false, `${how} ${name}`);
      }
    }
  });

  it("keeps the picture's orientation, and does not mistake the thumbnail's for it", async () => {
    const jpeg = await picture.clone().jpeg().toBuffer();
    const png = addPngChunk(await picture.clone().png().toBuffer(), "eXIf", "Exif\0\0", placed);
    const other = addSegment(jpeg, 0xe1, "Exif\0\0", makeExif([[[0x0100, 20]], [[orientation, 6]]]));
    for (const bytes of [png, other]) stripMetadata(bytes, "all");
    const tags = readTags(
      new Map([
        ["a.png", png],
        ["a.jpg", other],
      ]),
    );
    assert.match(tags.get("a.png") ?? "", /Orientation\s+: Rotate 90 CW/);
    assert.doesNotMatch(tags.get("a.jpg") ?? "Orientation", /Orientation/);
  });

  it("comes to an end with a place whose values overlap many thousand times", () => {
    const count = 65_535;
    const exif = Buffer.alloc(4_000_000);
    exif.write("MM\0*\0\0\0\x08\0\x01\x88\x25\0\x04\0\0\0\x01\0\0\0\x28", "latin1");
    exif.writeUInt16BE(count, 40);
    const behind = 42 + 12 * count;
    for (let at = 42; at < behind; at += 12) bigEndian(0x0001_0001, exif.length, behind).copy(exif, at);
    const path = join(mkdtempSync(join(tmpdir(), "upstow-shapes-")), "a.png");
    writeFileSync(path, addPngChunk(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "eXIf", exif));
    // In a process that can be ended: each value alone is visited in no time.
    const script = `import { readFileSync } from "node:fs";
      import { stripMetadata } from ${JSON.stringify(import.meta.resolve("./index.ts"))};
      console.log(stripMetadata(readFileSync(${JSON.stringify(path)}), "gps"));`;
    const options = { encoding: "utf8", timeout: 60_000 } as const;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], options);
    rmSync(dirname(path), { recursive: true });
    assert.equal(said, "true\n");
  });
});

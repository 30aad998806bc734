import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import { findCommand } from "../../../../scripts/debian-packages.mjs";
import { canStrip, stripMetadata } from "./index.ts";

const exiftoolMissing = findCommand("exiftool") === null && "exiftool is not installed on this machine";

const place = ["-GPSLatitude=48.2082", "-GPSLatitudeRef=N", "-GPSLongitude=16.3738", "-GPSLongitudeRef=E"];
const everything = [
  ...place,
  "-GPSAltitude=171",
  "-GPSDateStamp=2026:01:02",
  "-XMP:GPSLatitude=48.2082",
  "-XMP:GPSLongitude=16.3738",
  "-XMP:Creator=Jane",
  "-EXIF:Artist=Jane",
  "-EXIF:Make=Upstow",
  "-EXIF:Orientation#=6",
  "-Comment=home",
];

describe("stripping metadata", { skip: exiftoolMissing }, () => {
  const folder = mkdtempSync(join(tmpdir(), "upstow-strip-"));
  const files = new Map<string, Buffer>();
  /** Of each file as it is, and by what was stripped. */
  let tags: Map<string, string[]>;
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** All at once, because starting exiftool takes longer than reading a file. */
  function readTags(pictures: Map<string, Buffer>): Map<string, string[]> {
    const shown = mkdtempSync(join(folder, "shown-"));
    for (const [name, bytes] of pictures) writeFileSync(join(shown, name), bytes);
    const text = execFileSync("exiftool", ["-a", "-G1", "-s", "-ee", "-u", shown], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [, ...parts] = text.split(/^======== .*\/(.+)$/m);
    const found = new Map<string, string[]>();
    for (let i = 0; i < parts.length; i += 2) {
      const lines = parts[i + 1]?.split("\n") ?? [];
      found.set(
        parts[i] ?? "",
        lines.filter((line) => !/^\[(System|ExifTool)\]/.test(line)),
      );
    }
    return found;
  }
  const stripped = (bytes: Buffer, strip: "gps" | "all") => {
    const copy = Buffer.from(bytes);
    stripMetadata(copy, strip);
    return copy;
  };
  /** As decoders turn it upright, in its own colours. */
  const drawn = async (bytes: Buffer) => {
    const { data, info } = await sharp(bytes, { animated: true })
      .rotate()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { data, size: [info.width, info.height] };
  };

  before(async () => {
    const noise = sharp({
      create: {
        width: 70,
        height: 40,
        channels: 3,
        background: "#000",
        noise: { type: "gaussian", mean: 128, sigma: 40 },
      },
    });
    const pixels = await noise.png().toBuffer();
    const colours = sharp(pixels).withIccProfile("p3");
    const made: Record<string, Buffer> = {
      "baseline.jpg": await colours.clone().jpeg().toBuffer(),
      "progressive.jpg": await colours.clone().jpeg({ progressive: true }).toBuffer(),
      "cmyk.jpg": await sharp(pixels).toColourspace("cmyk").jpeg().toBuffer(),
      "plain.png": await colours.clone().png().toBuffer(),
      "palette.png": await colours.clone().png({ palette: true }).toBuffer(),
      "lossy.webp": await colours.clone().webp().toBuffer(),
      "lossless.webp": await colours.clone().webp({ lossless: true }).toBuffer(),
    };
    for (const [name, bytes] of Object.entries(made)) writeFileSync(join(folder, name), bytes);
    const paths = Object.keys(made).map((name) => join(folder, name));
    const write = ["-q", "-overwrite_original"];
    execFileSync("exiftool", [...write, ...everything, ...paths]);
    const jpegs = paths.filter((path) => path.endsWith("jpg"));
    execFileSync("exiftool", [...write, "-IPTC:City=Vienna", ...jpegs]);
    for (const name of Object.keys(made)) files.set(name, readFileSync(join(folder, name)));
    // A camera's second picture, with a place of its own, and bytes after it.
    const jpeg = files.get("baseline.jpg") ?? Buffer.alloc(0);
    files.set("two.jpg", Buffer.concat([jpeg, jpeg, Buffer.from("GPS 48.2082 16.3738")]));
    tags = readTags(
      new Map(
        [...files].flatMap(([name, bytes]) => [
          [name, bytes],
          [`gps ${name}`, stripped(bytes, "gps")],
          [`all ${name}`, stripped(bytes, "all")],
        ]),
      ),
    );
    assert.equal(tags.size, 3 * files.size);
  });

  it("leaves no place, and the same pixels, profile, orientation and size", async () => {
    for (const [name, original] of files) {
      assert.match(tags.get(name)?.join("\n") ?? "", /GPS/, name);
      for (const strip of ["gps", "all"] as const) {
        const bytes = Buffer.from(original);
        assert.equal(stripMetadata(bytes, strip), true, name);
        assert.equal(bytes.length, original.length, name);
        const found = tags.get(`${strip} ${name}`) ?? [];
        assert.deepEqual(
          found.filter((tag) => /gps|warning|error/i.test(tag)),
          [],
          `${name} ${strip}`,
        );
        assert.doesNotMatch(bytes.toString("latin1"), /48\.2082/, `${name} ${strip}`);
        assert.ok(
          found.some((tag) => /^\[IFD0\]\s+Orientation\s+: Rotate 90 CW/.test(tag)),
          `${name} ${strip}`,
        );
        assert.deepEqual(await drawn(bytes), await drawn(original), `${name} ${strip}`);
        const [now, before] = [await sharp(bytes).metadata(), await sharp(original).metadata()];
        assert.deepEqual(now.icc, before.icc, name);
        const again = Buffer.from(bytes);
        assert.equal(stripMetadata(again, strip), false, `${name} ${strip}`);
        assert.deepEqual(again, bytes);
      }
    }
  });

  it("tells the two ways apart", () => {
    for (const name of files.keys()) {
      assert.match(tags.get(`gps ${name}`)?.join("\n") ?? "", /Artist\s+: Jane/, name);
      assert.doesNotMatch(tags.get(`all ${name}`)?.join("\n") ?? "", /Jane|Upstow|home|Vienna/, name);
    }
  });

  it("changes nothing in a picture without metadata, nor in other files", async () => {
    const picture = sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } });
    const clean = [
      await picture.clone().jpeg().toBuffer(),
      await picture.clone().png().toBuffer(),
      await picture.clone().webp().toBuffer(),
    ];
    for (const bytes of clean) assert.equal(stripMetadata(Buffer.from(bytes), "all"), false);
    for (const bytes of [Buffer.alloc(0), Buffer.from("GPS"), await picture.clone().gif().toBuffer()]) {
      assert.equal(canStrip(bytes), false);
      assert.equal(stripMetadata(Buffer.from(bytes), "all"), false);
    }
  });

  it("comes to an end with any damage, and within the file", () => {
    let state = 7;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    for (const original of files.values())
      for (let i = 0; i < 300; i++) {
        const cut = i % 3 === 0 ? random(original.length) : original.length;
        const bytes = Buffer.from(original.subarray(0, cut));
        for (let j = 0; j < 20 && cut > 0; j++) bytes[12 + random(Math.min(cut, 900))] = random(256);
        const head = Buffer.from(bytes.subarray(0, 3));
        stripMetadata(bytes, i % 2 === 0 ? "gps" : "all");
        assert.equal(bytes.length, cut);
        assert.deepEqual(bytes.subarray(0, 3), head);
      }
  });
});

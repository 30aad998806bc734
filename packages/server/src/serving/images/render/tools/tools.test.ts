import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, getPriority } from "node:os";
import { after, test } from "node:test";
import sharp from "sharp";
import { openTestPool } from "../../../../../test/support/render/open-test-pool.ts";
import { palette, quadrants, solid } from "../../../../../test/support/render/test-images.ts";
import {
  ffmpeg,
  joinPdf,
  makeHeic,
  makePdf,
  makeVideo,
} from "../../../../../test/support/render/tool-sources.ts";
import type { RenderResult } from "../render-pool.ts";
import { findLayers } from "../sandbox/find-layers.ts";
import { readProbe } from "./convert-source.ts";
import { findTools, listKinds, toolKinds, toolNames } from "./recipes.ts";
import { runTool } from "./run-tool.ts";

const tools = findTools();
const lacking = toolNames.filter((name) => !tools.has(name));
const toolsMissing = lacking.length > 0 && `${lacking.join(", ")}: not installed`;

const pool = openTestPool({ tools });
const poolWithout = openTestPool();
after(() => Promise.all([pool.close(), poolWithout.close()]));

function render(source: Buffer, width = 100, from = pool): Promise<RenderResult> {
  const recipe = { width, fit: "scale-down", quality: 90 } as const;
  return from.render({ account: "a", recipe, format: "png", readSource: async () => source });
}

const describe = (source: Buffer) => pool.describe({ account: "a", readSource: async () => source }, false);

async function factsOf(source: Buffer) {
  const found = await describe(source);
  assert.ok(found.ok, JSON.stringify(found));
  return found.facts;
}

/** The colour in the middle of each half, rounded, since the codecs lose some of it. */
async function halvesOf(result: RenderResult): Promise<string[]> {
  assert.ok(result.ok, JSON.stringify(result));
  const { width, height } = result;
  const at = async (share: number) => {
    const part = { left: Math.floor(width * share), top: Math.floor(height / 2), width: 1, height: 1 };
    const [red = 0, green = 0, blue = 0] = await sharp(result.bytes)
      .extract(part)
      .removeAlpha()
      .raw()
      .toBuffer();
    return [red, green, blue].map((value) => (value > 128 ? "1" : "0")).join("");
  };
  return [await at(0.25), await at(0.75)];
}

test("HEIC becomes a picture with facts", { skip: toolsMissing }, async () => {
  const heic = makeHeic(await quadrants(300, 200).png().toBuffer());
  const made = await render(heic);
  assert.ok(made.ok);
  assert.deepEqual([made.width, made.height], [100, 67]);
  const { width, height, orientation, frames, thumbhash } = await factsOf(heic);
  assert.deepEqual([width, height, orientation, frames], [300, 200, 1, 1]);
  assert.ok(thumbhash.length > 20);
});

test("HEIC that says it is turned is turned once", { skip: toolsMissing }, async () => {
  const stored = solid(100, 60, palette.red).extend({ right: 100, background: "#0000ff" });
  // heif-enc keeps the EXIF and adds the turn that decoders go by.
  const heic = makeHeic(
    await stored.clone().withMetadata({ orientation: 3 }).jpeg({ quality: 100 }).toBuffer(),
  );
  assert.deepEqual(await halvesOf(await render(heic)), ["001", "100"]);
  const upright = makeHeic(await stored.jpeg().toBuffer());
  assert.deepEqual(await halvesOf(await render(upright)), ["100", "001"]);
});

test("the first page of a PDF is drawn, and no other", { skip: toolsMissing }, async () => {
  const pdf = makePdf({ others: 3 });
  assert.deepEqual(await halvesOf(await render(pdf)), ["100", "111"]);
  const { width, height } = await factsOf(pdf);
  assert.deepEqual([width, height], [2048, 1024]);
});

test("a page of any size is drawn at the same one", { skip: toolsMissing }, async () => {
  const { width, height } = await factsOf(makePdf({ media: "0 0 14400 14400" }));
  assert.deepEqual([width, height], [2048, 2048]);
});

for (const name of ["clip.mp4", "clip.mov", "clip.webm", "clip.mkv"]) {
  test(`the poster of ${name} shows it after a second, and its facts are the video's`, {
    skip: toolsMissing,
  }, async () => {
    const video = makeVideo(name);
    assert.deepEqual(await halvesOf(await render(video)), ["100", "100"]);
    const { width, height, duration = 0 } = await factsOf(video);
    assert.deepEqual([width, height], [320, 180]);
    assert.ok(Math.abs(duration - 2) < 0.1, `${duration} s`);
  });
}

test("a video shorter than a second has its first frame", { skip: toolsMissing }, async () => {
  assert.deepEqual(await halvesOf(await render(makeVideo("short.mp4", { seconds: 0.3 }))), ["001", "001"]);
});

test("a large video has its own size, whatever its poster's is", { skip: toolsMissing }, async () => {
  const large = makeVideo("large.mp4", { size: "2560x1440", seconds: 0.3 });
  const made = await render(large, 4096);
  assert.ok(made.ok);
  assert.deepEqual([made.width, made.height], [1920, 1080]);
  const { width, height } = await factsOf(large);
  assert.deepEqual([width, height], [2560, 1440]);
});

test("a turned video is upright", { skip: toolsMissing }, async () => {
  const flat = makeVideo("flat.mp4", { seconds: 0.3 });
  const turned = ffmpegTurned(flat);
  const made = await render(turned, 4096);
  assert.ok(made.ok);
  assert.deepEqual([made.width, made.height], [180, 320]);
  const { width, height } = await factsOf(turned);
  assert.deepEqual([width, height], [180, 320]);
});

function ffmpegTurned(video: Buffer): Buffer {
  const source = `data:video/mp4;base64,${video.toString("base64")}`;
  return ffmpeg("turned.mp4", ["-i", source], ["-c", "copy", "-metadata:s:v:0", "rotate=90"]);
}

test("without the tools none of them is an image", async () => {
  for (const source of [makePdf(), Buffer.from("\x1a\x45\xdf\xa3 matroska", "latin1")]) {
    assert.deepEqual(await render(source, 100, poolWithout), { ok: false, problem: "unsupported" });
  }
});

test("a playlist called a video is opened by nothing", { skip: toolsMissing }, async (t) => {
  let calls = 0;
  const server = createServer((_, response) => {
    calls++;
    response.end();
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:${port}/a.ts\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n`;
  const isobmff = Buffer.concat([
    Buffer.from("\0\0\0\x14ftypisom\0\0\0\0isom", "latin1"),
    Buffer.from(playlist),
  ]);
  const matroska = Buffer.concat([Buffer.from("\x1a\x45\xdf\xa3", "latin1"), Buffer.from(playlist)]);
  const concat = Buffer.from("ffconcat version 1.0\nfile /etc/passwd\n");
  for (const source of [Buffer.from(playlist), concat, isobmff, matroska]) {
    const made = await render(source);
    assert.ok(!made.ok && made.problem === "unsupported");
  }
  assert.equal(calls, 0);
});

const nested = (depth: number) => `${"<</A ".repeat(depth)}1${">>".repeat(depth)}`;
const hostilePdfs: Record<string, Buffer> = {
  "pages that contain themselves": joinPdf([
    [1, "<</Type/Catalog/Pages 2 0 R>>"],
    [2, "<</Type/Pages/Count 1000000/Kids[2 0 R 2 0 R]>>"],
  ]),
  "a form that draws itself": joinPdf([
    [1, "<</Type/Catalog/Pages 2 0 R>>"],
    [2, "<</Type/Pages/Count 1/Kids[3 0 R]>>"],
    [3, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>"],
    [4, "<</Length 5>>stream\n/F Do\nendstream"],
    [
      5,
      "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>/Length 11>>stream\n/F Do /F Do\nendstream",
    ],
  ]),
  "dictionaries in dictionaries": joinPdf([
    [1, "<</Type/Catalog/Pages 2 0 R>>"],
    [2, nested(50_000)],
  ]),
  "a length that refers to itself": joinPdf([
    [1, "<</Type/Catalog/Pages 2 0 R>>"],
    [2, "<</Type/Pages/Count 1/Kids[3 0 R]>>"],
    [3, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>"],
    [4, "<</Length 4 0 R>>stream\n0 0 9 9 re f\nendstream"],
  ]),
  "nothing but a header": Buffer.from("%PDF-1.7\n"),
};

for (const [name, pdf] of Object.entries(hostilePdfs)) {
  test(`a PDF with ${name} ends within the limits`, { skip: toolsMissing }, async () => {
    const made = await render(pdf);
    assert.ok(made.ok || made.problem === "unsupported", JSON.stringify(made));
    assert.deepEqual(await halvesOf(await render(makePdf())), ["100", "111"], "and the next one is drawn");
  });
}

test("a TIFF of 50,000 pages is opened by nothing", { skip: toolsMissing }, async () => {
  const pages = 50_000;
  const tiff = Buffer.alloc(8 + pages * 6);
  tiff.write("II*\0", "latin1");
  tiff.writeUInt32LE(8, 4);
  for (let page = 0; page < pages; page++) tiff.writeUInt32LE(8 + ((page + 1) % pages) * 6, 8 + page * 6 + 2);
  assert.deepEqual(await render(tiff), { ok: false, problem: "unsupported" });
});

const wholeFiles: Record<string, () => Promise<Buffer> | Buffer> = {
  HEIC: async () => makeHeic(await quadrants(300, 200).png().toBuffer()),
  MP4: () => makeVideo("clip.mp4"),
  WebM: () => makeVideo("clip.webm"),
  PDF: () => makePdf(),
};

for (const [kind, make] of Object.entries(wholeFiles)) {
  test(`cut off and damaged ${kind} is refused, and harms no later file`, {
    skip: toolsMissing,
  }, async () => {
    const source = await make();
    for (let seed = 1; seed <= 10; seed++) {
      const damaged = Buffer.from(source.subarray(0, seed % 2 === 0 ? source.length : source.length >> 1));
      for (let at = 40 + seed; at < damaged.length; at += 97 * seed)
        damaged[at] = (damaged[at] ?? 0) ^ (at * 31);
      const made = await render(damaged);
      assert.ok(
        made.ok || ["unsupported", "unprocessable", "too-large"].includes(made.problem),
        JSON.stringify(made),
      );
    }
    assert.ok((await render(source)).ok);
  });
}

test("a tool sees programs and the file, and nothing of the service", async (t) => {
  const { layers } = await findLayers();
  if (!layers.has("namespaces")) return t.skip("no namespaces here");
  process.env["TOOL_TEST_SECRET"] = "hush-hush";
  t.after(() => delete process.env["TOOL_TEST_SECRET"]);
  const script = 'echo "$(ls /) $(ls)"; read line <source; echo "$line"; echo "secret: $TOOL_TEST_SECRET"';
  const source = Buffer.from("the file\n");
  const programs = ["/usr/bin/ls"];
  const found = await runTool({ layers, givesWay: false, programs, script, source, giveUpMs: 100_000 });
  assert.ok(found.kind === "done", JSON.stringify(found));
  const words = found.bytes.toString().split(/\s+/).filter(Boolean);
  const system = ["etc", "lib", "lib64", "sys", "usr", "work"];
  assert.deepEqual(
    words.filter((word) => !system.includes(word)),
    ["source", "the", "file", "secret:"],
  );
});

test("a tool has a low priority only where it gives way", async () => {
  const { layers } = await findLayers();
  const programs = ["/usr/bin/nice"];
  for (const givesWay of [true, false]) {
    const source = Buffer.from("x");
    const found = await runTool({ layers, givesWay, programs, script: '"$1"', source, giveUpMs: 100_000 });
    assert.ok(found.kind === "done", JSON.stringify(found));
    const own = getPriority();
    assert.equal(Number(found.bytes.toString()), givesWay ? constants.priority.PRIORITY_LOW : own);
  }
});

for (const kind of ["confined", "unconfined"] as const) {
  test(`${kind}, what a tool starts ends with it, and limits hold`, async () => {
    const layers = kind === "confined" ? (await findLayers()).layers : new Set(["limits"] as const);
    const source = Buffer.alloc(1_000_000, "x");
    const run = (script: string, giveUpMs = 100_000) =>
      runTool({ layers, givesWay: false, programs: ["/usr/bin/wc"], script, source, giveUpMs });
    assert.deepEqual(await run("cat source"), { kind: "done", bytes: source });
    assert.deepEqual(await run("cat missing"), { kind: "refused" });
    assert.deepEqual(await run("while :; do cat source >more; done | cat", 1000), { kind: "refused" });
    assert.deepEqual(await run("while :; do cat source; done"), { kind: "refused" }, "an endless picture");
    const grow = 'while cat source source >more && cat more >source; do :; done; "$1" -c <source';
    const grown = await run(grow);
    assert.ok(grown.kind === "done", JSON.stringify(grown));
    const grownBytes = Number(grown.bytes.toString());
    assert.ok(grownBytes > 1_000_000 && grownBytes <= 160 * 1024 * 1024, `${grownBytes} bytes`);
    assert.equal((await run("no-such-program")).kind, "failed");
  });
}

test("kinds need all their tools", () => {
  assert.deepEqual(listKinds(new Map()), []);
  assert.deepEqual(listKinds(new Map([["ffmpeg", "/usr/bin/ffmpeg"]])), []);
  assert.deepEqual(listKinds(new Map(toolNames.map((name) => [name, name]))), toolKinds);
});

test("of ffprobe's answer only sound numbers count", () => {
  const answer = (stream: object, duration: unknown) =>
    readProbe(JSON.stringify({ streams: [stream], format: { duration } }));
  assert.deepEqual(answer({ width: 640, height: 360 }, "12.3456"), {
    width: 640,
    height: 360,
    duration: 12.346,
  });
  const turned = { width: 640, height: 360, side_data_list: [{ rotation: -90 }] };
  assert.deepEqual(answer(turned, "1"), { width: 360, height: 640, duration: 1 });
  for (const bad of [
    { width: "640", height: 360 },
    { width: 0, height: 1 },
    { width: 1e9, height: 1 },
  ])
    assert.deepEqual(answer(bad, "N/A"), {});
  for (const text of ["", "null", "[]", "{", '{"streams":{}}', '{"streams":[null]}'])
    assert.deepEqual(readProbe(text), {});
});

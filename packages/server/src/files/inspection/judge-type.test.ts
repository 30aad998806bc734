import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { type GenuineFile, makeGenuineFiles } from "../../../test/support/inspection/genuine-files.ts";
import { makeZip } from "../../../test/support/inspection/make-zip.ts";
import { detectType, type Sample } from "./detect-type.ts";
import { findCompoundDirectory, findZipDirectory, isCompound, isZip } from "./families.ts";
import { isNameOf, judgeType, type TypeProblem } from "./judge-type.ts";

const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

function sampleOf(bytes: Buffer): Sample {
  const sizeBytes = bytes.length;
  const place = isZip(bytes)
    ? findZipDirectory(bytes, sizeBytes)
    : isCompound(bytes)
      ? findCompoundDirectory(bytes, sizeBytes)
      : null;
  return {
    head: bytes.subarray(0, 16 * 1024),
    directory: place && bytes.subarray(place.start, place.start + place.length),
    sizeBytes,
  };
}

const detect = (bytes: Buffer, declared: string) =>
  detectType(sampleOf(bytes), (type) => isNameOf(declared, type));

async function judge(bytes: Buffer, declared: string, allowed: string[] = []): Promise<TypeProblem | null> {
  return judgeType(declared, await detect(bytes, declared), allowed);
}

describe("the true type of a file", () => {
  let files: GenuineFile[];
  const find = (name: string) => files.find((file) => file.name === name)?.bytes ?? assert.fail(name);
  before(async () => {
    files = await makeGenuineFiles();
  });

  it("is detected for at least 60 formats, whatever the name says", async () => {
    for (const { name, type, declared, bytes } of files)
      assert.equal(await detect(bytes, declared), type, name);
    assert.ok(new Set(files.map(({ type }) => type)).size > 70);
  });

  it("agrees with what each of them is declared as", async () => {
    for (const { name, declared, bytes } of files) {
      assert.equal(await judge(bytes, declared), null, name);
      assert.equal(await judge(bytes, `${declared.toUpperCase()}; charset=x`, [declared]), null, name);
    }
  });

  it("contradicts every other declaration that has a signature", async () => {
    const disguises = ["image/png", "application/pdf", "video/mp4", "application/msword", "font/woff2"];
    let disguised = 0;
    for (const { name, type, declared, bytes } of files) {
      for (const disguise of disguises) {
        if (isNameOf(disguise, type ?? "none") || name === "a.msi") continue;
        // Signatures of two bytes are believed only where the declaration agrees.
        const expected = type === null || name === "b.mp3" ? "unknown" : "contradicted";
        assert.equal(await judge(bytes, disguise), expected, `${name} as ${disguise}, not ${declared}`);
        disguised++;
      }
    }
    assert.ok(disguised > 400);
  });

  it("has to be accepted by the route behind application/octet-stream", async () => {
    const allowed = ["application/octet-stream", "image/*"];
    for (const { name, type, bytes } of files) {
      const isFine = type === null || type.startsWith("image/");
      const declared = "application/octet-stream";
      const detected = await detect(bytes, declared);
      if (name === "b.mp3") assert.equal(detected, null);
      else assert.equal(judgeType(declared, detected, allowed), isFine ? null : "not-allowed", name);
    }
  });

  const cases: [
    what: string,
    bytes: () => Buffer,
    declared: string,
    allowed: string[],
    TypeProblem | null,
  ][] = [
    ["a program called a picture", () => find("a.exe"), "image/jpeg", ["image/*"], "contradicted"],
    ["a page called a picture", () => find("a.html"), "image/png", ["image/*"], "contradicted"],
    ["an SVG called PNG", () => find("a.svg"), "image/png", ["image/*"], "contradicted"],
    ["noise called a picture", () => Buffer.alloc(500, 7), "image/png", ["image/*"], "unknown"],
    [
      "noise called an unknown kind of picture",
      () => Buffer.alloc(500, 7),
      "image/x-mine",
      ["image/*"],
      "unknown",
    ],
    ["noise called a text", () => Buffer.alloc(500, 7), "text/plain", ["text/*"], null],
    ["noise called nothing", () => Buffer.alloc(500, 7), "application/octet-stream", ["*/*"], null],
    [
      "a page called a text, where pages are not accepted",
      () => find("a.html"),
      "text/plain",
      ["text/plain"],
      "not-allowed",
    ],
    ["a page called a text, where all texts are", () => find("a.html"), "text/plain", ["text/*"], null],
    ["a page called a spreadsheet", () => find("a.html"), "text/csv", ["text/*"], "contradicted"],
    ["a page called JSON", () => find("a.html"), "application/json", [], "contradicted"],
    ["a page in Latin-1", () => Buffer.from("<html>\xe9</html>", "latin1"), "text/csv", [], "contradicted"],
    ["a page with a zero in it", () => Buffer.from("<html>\0</html>"), "text/csv", [], "contradicted"],
    ["a page in UTF-16", () => Buffer.from("<html></html>", "utf16le"), "text/csv", [], "contradicted"],
    [
      "a page behind a comment that is empty to browsers",
      () => Buffer.from("<!--><script>alert(1)</script>"),
      "text/csv",
      [],
      "contradicted",
    ],
    [
      "an SVG in Latin-1",
      () => Buffer.from("<?xml version='1.0' encoding='iso-8859-1'?><svg><text>\xe9</text></svg>", "latin1"),
      "image/svg+xml",
      ["image/*"],
      null,
    ],
    [
      "a Markdown text that begins with HTML",
      () => Buffer.from("<p align=center>\n\n# Hello"),
      "text/markdown",
      ["text/markdown"],
      null,
    ],
    [
      "a document with macros whose name is in other letters",
      () => makeZip({ "[Content_Types].xml": "x", "word/a": "x", "word/VBAProject.bin": "x" }),
      docx,
      [],
      "contradicted",
    ],
    ["a PDF called a text", () => find("a.pdf"), "text/plain", [], "contradicted"],
    [
      "a document called ZIP, where documents are not accepted",
      () => find("a.docx"),
      "application/zip",
      ["application/zip"],
      "not-allowed",
    ],
    ["a document called ZIP", () => find("a.docx"), "application/zip", [], null],
    ["a ZIP called a document", () => find("a.zip"), docx, [], "contradicted"],
    ["a spreadsheet called a document", () => find("a.xlsx"), docx, [], "contradicted"],
    ["an old spreadsheet called a document", () => find("a.xls"), "application/msword", [], "contradicted"],
    ["an app called ZIP", () => find("a.apk"), "application/zip", ["application/zip"], "not-allowed"],
    ["a ZIP called EPUB", () => find("a.zip"), "application/epub+zip", [], "contradicted"],
    ["a ZIP of a format without a mark", () => find("a.zip"), "model/vnd.usdz+zip", ["model/*"], null],
    ["a video called its sound", () => find("b.webm"), "audio/webm", ["audio/*"], null],
    ["a QuickTime film called MP4", () => find("a.mov"), "video/mp4", ["video/mp4"], null],
    ["a route that has changed its mind", () => find("a.png"), "image/png", ["image/jpeg"], "not-allowed"],
    // Two files in one. What a browser makes of them is decided by the type they are served with, and that is the first.
    [
      "polyglot: a GIF that is a script",
      () => Buffer.from("GIF89a/*\n*/=1;alert(1)//"),
      "image/gif",
      ["image/*"],
      "unknown",
    ],
    [
      "polyglot: a GIF with a page in it",
      () => Buffer.concat([find("a.gif"), find("a.html")]),
      "image/gif",
      ["image/*"],
      null,
    ],
    [
      "polyglot: the same, called a page",
      () => Buffer.concat([find("a.gif"), find("a.html")]),
      "text/html",
      [],
      "contradicted",
    ],
    [
      "polyglot: a PDF with a ZIP behind it",
      () => Buffer.concat([find("a.pdf"), find("a.zip")]),
      "application/pdf",
      [],
      null,
    ],
    [
      "polyglot: the same, called a ZIP",
      () => Buffer.concat([find("a.pdf"), find("a.zip")]),
      "application/zip",
      [],
      "contradicted",
    ],
    [
      "polyglot: a JPEG with an archive of programs behind it",
      () => Buffer.concat([find("a.jpg"), find("a.jar")]),
      "image/jpeg",
      [],
      null,
    ],
    [
      "polyglot: a document that is an app too",
      () => makeZip({ "[Content_Types].xml": "x", "word/a": "x", "AndroidManifest.xml": "x" }),
      docx,
      [],
      "contradicted",
    ],
    ["a space before the PDF's mark", () => Buffer.from(" %PDF-1.4\n"), "application/pdf", [], "unknown"],
    ["a ZIP that was cut", () => find("a.docx").subarray(0, 100), docx, [], "contradicted"],
    ["one byte", () => Buffer.from("P"), "image/png", [], "unknown"],
  ];
  for (const [what, bytes, declared, allowed, expected] of cases)
    it(`judges ${what}`, async () => assert.equal(await judge(bytes(), declared, allowed), expected));
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Files that only the optional tools can read, made by encoders of the same packages.

/** A PNG or JPEG as HEIC. */
export function makeHeic(image: Buffer): Buffer {
  const name = image[0] === 0xff ? "in.jpg" : "in.png";
  return inFolder((folder) => {
    writeFileSync(join(folder, name), image);
    execFileSync("heif-enc", [name, "-o", "out.heic"], { cwd: folder, stdio: "pipe" });
    return readFileSync(join(folder, "out.heic"));
  });
}

/** Blue for the first half second, red from then on, 25 frames per second. */
export function makeVideo(
  name: string,
  { seconds = 2, size = "320x180", args = [] }: { seconds?: number; size?: string; args?: string[] } = {},
): Buffer {
  const blue = `color=blue:s=${size}:r=25:d=${Math.min(seconds, 0.5)}`;
  const red = `color=red:s=${size}:r=25:d=${Math.max(seconds - 0.5, 0.04)}`;
  return ffmpeg(
    name,
    ["-f", "lavfi", "-i", blue, "-f", "lavfi", "-i", red],
    [...["-filter_complex", "[0][1]concat", "-pix_fmt", "yuv420p"], ...args],
  );
}

export function ffmpeg(name: string, input: string[], output: string[]): Buffer {
  return inFolder((folder) => {
    execFileSync("ffmpeg", ["-v", "error", ...input, ...output, name], { cwd: folder, stdio: "pipe" });
    return readFileSync(join(folder, name));
  });
}

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "upstow-tool-sources-"));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One page of 200 × 100 points, its left half in this colour, and as many others in black. */
export function makePdf({ color = "1 0 0", others = 0, media = "0 0 200 100" } = {}): Buffer {
  const pages = Array.from({ length: 1 + others }, (_, index) => 10 + 2 * index);
  const content = (index: number) =>
    index === 0 ? `${color} rg 0 0 100 100 re f` : "0 0 0 rg 0 0 200 100 re f";
  return joinPdf([
    [1, "<</Type/Catalog/Pages 2 0 R>>"],
    [2, `<</Type/Pages/Count ${pages.length}/Kids[${pages.map((id) => `${id} 0 R`).join(" ")}]>>`],
    ...pages.flatMap((id, index): [number, string][] => [
      [id, `<</Type/Page/Parent 2 0 R/MediaBox[${media}]/Contents ${id + 1} 0 R>>`],
      [id + 1, `<</Length ${content(index).length}>>stream\n${content(index)}\nendstream`],
    ]),
  ]);
}

export function joinPdf(objects: [id: number, text: string][]): Buffer {
  let text = "%PDF-1.4\n";
  const entries: string[] = [];
  for (const [id, body] of objects) {
    entries.push(`${id} 1\n${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${id} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...objects.map(([id]) => id)) + 1;
  return Buffer.from(
    `${text}xref\n0 1\n0000000000 65535 f \n${entries.join("")}trailer<</Size ${size}/Root 1 0 R>>\n` +
      `startxref\n${text.length}\n%%EOF\n`,
    "latin1",
  );
}

// Renders a picture over and over with nothing around sharp, and says what that took.
import { readFileSync } from "node:fs";
import { type ImageFormat, imageWidth } from "./image-formats.ts";
import { sharp } from "./photo.ts";

const [path = "", format = "jpeg", quality = "85", count = "1"] = process.argv.slice(2);
const bytes = readFileSync(path);
sharp.concurrency(1);
sharp.cache(false);

function render(): Promise<Buffer> {
  const image = sharp(bytes).autoOrient().resize({ width: imageWidth });
  const options = { quality: Number(quality) };
  switch (format as ImageFormat["name"]) {
    case "jpeg":
      return image.jpeg(options).toBuffer();
    case "webp":
      return image.webp({ ...options, effort: 2 }).toBuffer();
    case "avif":
      return image.avif({ ...options, effort: 1 }).toBuffer();
    case "png":
      return image.png().toBuffer();
  }
}

await render();
const cpuBefore = process.cpuUsage();
const startMs = performance.now();
let sizeBytes = 0;
for (let i = 0; i < Number(count); i++) sizeBytes = (await render()).length;
const wallMs = (performance.now() - startMs) / Number(count);
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 / Number(count), sizeBytes }));

// Reads the header of a picture and shrinks it as its facts need, over and over with nothing around sharp.
import { readFileSync } from "node:fs";
import { sharp } from "./photo.ts";

const [path = "", count = "1"] = process.argv.slice(2);
const bytes = readFileSync(path);
sharp.concurrency(1);
sharp.cache(false);

async function shrink(): Promise<void> {
  await sharp(bytes).metadata();
  const small = sharp(bytes).autoOrient().resize({ width: 100, height: 100, fit: "inside" });
  await small.toColourspace("srgb").ensureAlpha().raw().toBuffer();
}

await shrink();
const cpuBefore = process.cpuUsage();
for (let i = 0; i < Number(count); i++) await shrink();
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(JSON.stringify({ cpuMs: (user + system) / 1000 / Number(count) }));

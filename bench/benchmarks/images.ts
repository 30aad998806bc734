import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageFormat, imageFormats, imageWidth } from "../contenders/image-formats.ts";
import {
  findVipsRenderer,
  ipxRenderer,
  type RenderCost,
  type Renderer,
  sharpInProcess,
  upstowRenderer,
  warmIpx,
  warmUpstow,
} from "../contenders/image-renderers.ts";
import { startIpx } from "../contenders/ipx.ts";
import { createPhoto, shrinkPhoto } from "../contenders/photo.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import type { Benchmark, Table } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const limitBesideSharp = 1.15;
const gainBesideIpxOnAvif = 8;
const labels: Record<string, string> = {
  sharp: "sharp in process: the limit",
  upstow: "Upstow over HTTP: requested, rendered, stored, fetched",
  ipx: "IPX over HTTP",
  vips: "vipsthumbnail (Debian)",
};
type Costs = Record<string, RenderCost[]>;

export const images: Benchmark = {
  title: `A photo of 12 megapixels to ${imageWidth} pixels`,
  async run({ folder, rounds }) {
    const photo = await createPhoto();
    const photoPath = join(folder, "photo.jpg");
    const small = await shrinkPhoto(photo);
    await writeFile(photoPath, photo);
    await writeFile(join(folder, "small.jpg"), small);
    const upstow = await startUpstow({ folder });
    const ipx = await startIpx(photoPath);
    await warmUpstow(upstow, small);
    await warmIpx(ipx, "small.jpg");
    const vips = await findVipsRenderer(folder, photoPath);
    const renderers: Record<string, Renderer> = {
      sharp: sharpInProcess(photoPath),
      upstow: upstowRenderer(upstow, photo),
      ipx: ipxRenderer(ipx, basename(photoPath)),
      ...(vips === null ? {} : { vips }),
    };
    const data: Record<string, Costs> = {};
    for (const format of imageFormats) data[format.name] = await runRounds(renderers, format, rounds);
    await Promise.all([upstow.stop(), ipx.stop()]);
    return {
      tables: imageFormats.map(({ name }) => toTable(name, data[name] ?? {})),
      notes: [
        "CPU and time are per image. Encoders use the same quality. All use Upstow's AVIF effort of 1, except IPX, which has no such setting.",
        ...(vips === null ? ["Left out, because libvips-tools is not installed here: vipsthumbnail."] : []),
        ...listProblems(data),
      ],
      data,
    };
  },
};

/** The first, which starts workers and fills caches, does not count. */
async function runRounds(
  renderers: Record<string, Renderer>,
  format: ImageFormat,
  rounds: number,
): Promise<Costs> {
  const costs: Costs = Object.fromEntries(Object.keys(renderers).map((name) => [name, []]));
  for (const render of Object.values(renderers)) await render({ ...format, count: 2 });
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`  ${format.name}, round ${round + 1} of ${rounds}\n`);
    for (const [name, render] of Object.entries(renderers)) costs[name]?.push(await render(format));
  }
  return costs;
}

function toTable(format: ImageFormat["name"], costs: Costs): Table {
  const middle = (name: string, part: "cpuMs" | "wallMs" | "sizeBytes") =>
    spreadOf((costs[name] ?? []).map((cost) => cost[part])).median;
  const cpuBeside = (name: string, other: string) =>
    spreadOf((costs[name] ?? []).map(({ cpuMs }, i) => cpuMs / (costs[other]?.[i]?.cpuMs ?? Number.NaN)));
  const rows = Object.keys(costs).map((name) => {
    const share = cpuBeside(name, "sharp");
    return [
      labels[name] ?? name,
      formatNumber(middle(name, "cpuMs")),
      formatNumber(middle(name, "wallMs")),
      formatNumber(middle(name, "sizeBytes") / 1024),
      name === "sharp" || Number.isNaN(share.median) ? "" : formatShare(share),
      name === "upstow" ? describeTargets(format, share.median, cpuBeside("ipx", "upstow").median) : "",
    ];
  });
  return {
    caption: `12 megapixels to ${imageWidth} pixels, ${format}`,
    columns: ["", "CPU ms", "ms", "KiB", "CPU beside sharp", "target"],
    rows,
  };
}

function listProblems(data: Record<string, Costs>): string[] {
  const costs = Object.values(data).flatMap((byRenderer) => Object.values(byRenderer).flat());
  return [...new Set(costs.flatMap(({ problem }) => problem ?? []))];
}

function describeTargets(format: string, besideSharp: number, ipxBeside: number): string {
  const mark = (isMet: boolean) => (isMet ? "✔" : "✘");
  const sharp = `≤ ${limitBesideSharp} of sharp ${mark(besideSharp <= limitBesideSharp)}`;
  if (format !== "avif") return sharp;
  return `${sharp}, ${formatNumber(ipxBeside)} times less than IPX, ≥ ${gainBesideIpxOnAvif} ${mark(ipxBeside >= gainBesideIpxOnAvif)}`;
}

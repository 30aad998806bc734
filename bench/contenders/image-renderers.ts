import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findCommand, installDebianPackages } from "../../scripts/debian-packages.mjs";
import { readCpuSec } from "../harness/process-usage.ts";
import { type ImageFormat, imageWidth } from "./image-formats.ts";
import type { Ipx } from "./ipx.ts";
import { type Ask, requestVariant, storeImage } from "./stored-images.ts";
import type { Upstow } from "./upstow.ts";

/** For one image. */
export interface RenderCost {
  cpuMs: number;
  wallMs: number;
  sizeBytes: number;
  /** Why there are no figures. */
  problem?: string;
}

export type Renderer = (format: ImageFormat) => Promise<RenderCost>;

const run = promisify(execFile);

export function sharpInProcess(photoPath: string): Renderer {
  const script = fileURLToPath(new URL("sharp-in-process.ts", import.meta.url));
  return async ({ name, quality, count }) => {
    const args = [
      "--disable-warning=ExperimentalWarning",
      script,
      photoPath,
      name,
      String(quality),
      String(count),
    ];
    return JSON.parse((await run(process.execPath, args)).stdout) as RenderCost;
  };
}

const warmUpCalls = 1500;
const warmUpRenders = 300;
const warmUpClients = 4;

/** V8 goes on optimising for thousands of calls; until then one can cost twice as much. */
export async function warmUpstow(upstow: Upstow, small: Buffer): Promise<void> {
  const key = await storeImage(upstow, small, "image/jpeg");
  const get = async (ask: Ask) =>
    fetchImage(`${upstow.url}${await requestVariant(upstow, key, ask)}`, ask.format);
  // Another width is another variant, which has to be rendered.
  await repeat(warmUpRenders, (i) => get({ width: 1 + i, format: "png" }));
  await repeat(warmUpCalls, () => get({ width: imageWidth, format: "jpeg" }));
}

export async function warmIpx({ url }: Ipx, smallName: string): Promise<void> {
  await repeat(warmUpRenders, (i) => fetchImage(`${url}/w_${1 + i},f_png/${smallName}`, "png"));
}

async function repeat(calls: number, call: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const runClient = async () => {
    while (next < calls) await call(next++);
  };
  await Promise.all(Array.from({ length: warmUpClients }, runClient));
}

/** Every image is a file of its own, so that each one is rendered: asked for and fetched, as a page would. */
export function upstowRenderer(upstow: Upstow, photo: Buffer): Renderer {
  return async ({ name, count }) => {
    const keys: string[] = [];
    for (let i = 0; i < count; i++) keys.push(await storeImage(upstow, photo, "image/jpeg"));
    return measure(upstow.pid, count, async (i) => {
      const path = await requestVariant(upstow, keys[i] ?? "", { width: imageWidth, format: name });
      return fetchImage(`${upstow.url}${path}`, name);
    });
  };
}

export function ipxRenderer({ url, pid }: Ipx, photoName: string): Renderer {
  return ({ name, quality, count }) => {
    // A quality would make IPX reduce a PNG to a palette.
    const recipe = [`w_${imageWidth}`, `f_${name}`, ...(quality === null ? [] : [`q_${quality}`])];
    return measure(pid, count, () => fetchImage(`${url}/${recipe.join(",")}/${photoName}`, name));
  };
}

/** Debian's vipsthumbnail, a process for each image; null where it cannot be had. */
export async function findVipsRenderer(folder: string, photoPath: string): Promise<Renderer | null> {
  await installDebianPackages(
    [{ package: "libvips-tools", command: "vipsthumbnail", why: "images beside a plain program" }],
    (message) => process.stderr.write(`${message}\n`),
  );
  if (findCommand("vipsthumbnail") === null) return null;
  return async ({ name, quality, count }) => {
    const output = join(folder, `vips.${name}`);
    const options = [
      "strip",
      ...(quality === null ? [] : [`Q=${quality}`]),
      // Of 4:2:0, its default, sharp and IPX make no use.
      ...(name === "avif" ? ["effort=1", "subsample-mode=off"] : []),
      ...(name === "webp" ? ["reduction-effort=2"] : []),
    ];
    const command = `vipsthumbnail ${photoPath} -s ${imageWidth}x -o '${output}[${options.join(",")}]'`;
    const timed = `TIMEFORMAT='%R %U %S'; time for i in $(seq ${count}); do ${command} || exit 1; done`;
    // Not our environment: the libvips in sharp puts its own home there, where Debian's finds none of its parts.
    const env = { PATH: process.env["PATH"], VIPS_CONCURRENCY: "1" };
    const ended = await run("bash", ["-c", timed], { env }).catch((error: Error) => error);
    if (ended instanceof Error) {
      // Not every libheif brings an encoder for AVIF.
      const [, reason = "it fails"] = ended.message.trim().split("\n");
      const problem = `vipsthumbnail cannot write ${name} here: ${reason.replaceAll(photoPath, "the photo")}`;
      return { wallMs: Number.NaN, cpuMs: Number.NaN, sizeBytes: Number.NaN, problem };
    }
    const [wallSec = 0, userSec = 0, systemSec = 0] = (ended.stderr.trim().split("\n").at(-1) ?? "")
      .split(" ")
      .map(Number);
    const { stdout } = await run("stat", ["-c", "%s", output]);
    return {
      wallMs: (wallSec * 1000) / count,
      cpuMs: ((userSec + systemSec) * 1000) / count,
      sizeBytes: Number(stdout),
    };
  };
}

async function measure(
  pid: number,
  count: number,
  render: (index: number) => Promise<number>,
): Promise<RenderCost> {
  const cpuBefore = readCpuSec(pid);
  const startMs = performance.now();
  let sizeBytes = 0;
  for (let i = 0; i < count; i++) sizeBytes = await render(i);
  const wallMs = (performance.now() - startMs) / count;
  return { cpuMs: ((readCpuSec(pid) - cpuBefore) * 1000) / count, wallMs, sizeBytes };
}

async function fetchImage(url: string, format: string): Promise<number> {
  const response = await fetch(url);
  const { byteLength } = await response.arrayBuffer();
  const type = response.headers.get("content-type");
  if (response.status !== 200 || type !== `image/${format}`)
    throw new Error(`${response.status} ${type} at ${url}`);
  return byteLength;
}

import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import type { Database } from "../packages/server/src/db/database.ts";
import { statement } from "../packages/server/src/db/statement.ts";
import { countWaiting } from "../packages/server/src/serving/images/describe-images.ts";
import { fitModes, maxSidePx, recipeFormats } from "../packages/server/src/serving/images/recipe.ts";
import { smallBytes } from "../packages/server/src/storage/disk/blob-reader.ts";
import {
  createCorpus,
  createLargeCorpus,
  mutateImage,
} from "../packages/server/test/support/render/mutate-image.ts";
import { createInstallation, type Installation } from "./installation.ts";
import { createRandom, type Random } from "./random.ts";
import { type Outcome, type RunOptions, Violation } from "./scenario.ts";

/** Far fewer than the render queue holds, so that no answer may be 503. */
const clients = 6;
const mostViolations = 20;
const mebibyte = 1024 * 1024;
/** Of the images before their damage, which makes some of them small. */
const largeShare = 0.55;
const mostServerBytes = 400 * mebibyte;
const mostWorkerBytes = 800 * mebibyte;
const types = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];
const accepts = ["image/avif,image/webp,*/*", "image/webp", "*/*", ""];

let corpora: Promise<[small: Buffer[], large: Buffer[]]> | undefined;

/**
 * Uploads damaged images and asks for variants of them; every one is rendered as promised or refused cleanly. Meanwhile
 * the service looks for the facts of each, and no image may keep it from coming to an end.
 */
export async function fuzzImages({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const installation = await createInstallation();
  // Made once for all batches of a run.
  corpora ??= Promise.all([createCorpus(), createLargeCorpus()]);
  const [small, large] = await corpora;
  const counts = {
    "larger than 128 KiB": 0,
    "larger than 1 MiB": 0,
    rendered: 0,
    "rendered, larger than 128 KiB": 0,
    "rejected as not an image (415)": 0,
    "rejected as damaged (422)": 0,
    "with facts": 0,
    "without facts": 0,
  };
  const peaks = { server: 0, worker: 0 };
  const violations: string[] = [];
  const server = await installation.start();
  let left = rounds;
  let tried = 0;

  async function act(): Promise<void> {
    while (left-- > 0 && !isTimeUp() && violations.length < mostViolations) {
      try {
        // Its own choices for each image: the clients take turns as the kernel likes, the images stay the same.
        const choices = createRandom(random.int(0, 2 ** 32 - 1));
        const image = mutateImage(choices.chance(largeShare) ? large : small, below(choices));
        const status = await tryOne(installation, image, choices);
        tried++;
        for (const name of listCounters(image.length, status)) counts[name]++;
      } catch (error) {
        violations.push(error instanceof Violation ? error.message : `a call failed: ${error}`);
      }
      peaks.server = Math.max(peaks.server, readRssBytes(server.pid));
      peaks.worker = Math.max(peaks.worker, ...listBelow(server.pid).map(readRssBytes));
      onRound(1, counts);
    }
  }

  try {
    await Promise.all(Array.from({ length: clients }, act));
    const described = await installation.withDatabase(awaitFacts);
    for (const { image } of described) counts[image === "null" ? "without facts" : "with facts"]++;
    if (described.length < tried) violations.push(`${described.length} of ${tried} images were described`);
    if (peaks.server > mostServerBytes) violations.push(`the server grew to ${peaks.server} bytes`);
    if (peaks.worker > mostWorkerBytes) violations.push(`a renderer grew to ${peaks.worker} bytes`);
    return { counts, violations };
  } finally {
    await installation.remove();
  }
}

/** Of every image, once none is waiting. */
async function awaitFacts(db: Database) {
  while ((await countWaiting(db)) > 0) await wait(200);
  return db.all(listFacts, {});
}

const listFacts = statement((q, _: object) =>
  q.selectFrom("file").select("image").where("image", "is not", null),
);

function listCounters(sizeBytes: number, status: number) {
  // It is sent to a renderer from its file, bit by bit.
  const isLarge = sizeBytes > smallBytes;
  return [
    ...(isLarge ? (["larger than 128 KiB"] as const) : []),
    ...(sizeBytes > mebibyte ? (["larger than 1 MiB"] as const) : []),
    ...(isLarge && status === 200 ? (["rendered, larger than 128 KiB"] as const) : []),
    status === 200
      ? "rendered"
      : status === 415
        ? "rejected as not an image (415)"
        : "rejected as damaged (422)",
  ] as const;
}

async function tryOne({ call, key }: Installation, bytes: Buffer, random: Random): Promise<number> {
  const pick = <T>(values: readonly T[]): T => values[random.int(0, values.length - 1)] as T;
  const contentType = pick(types);
  const sized = bytes.length === 0 ? Buffer.from([0]) : bytes;
  const wanted = { fileName: "i", fileSize: sized.length, contentType, routeSlug: "default" };
  const requested = await call("POST", "upload/request", { key, body: wanted });
  const put = await fetch(requested.body.uploadUrl, {
    method: "PUT",
    headers: { "content-type": contentType },
    body: new Uint8Array(sized),
  });
  await put.text();
  const { fileId } = requested.body;
  const stored = await call("POST", "upload/complete", { key, body: { fileId } });
  const side = () => random.int(1, random.chance(0.02) ? maxSidePx : 200);
  const ask = {
    key: stored.body.file.key,
    width: side(),
    ...(random.chance(0.5) ? { height: side() } : {}),
    fit: pick(fitModes),
    quality: random.int(1, 100),
    format: pick(recipeFormats),
    delivery: pick(["signed", "public"]),
  };
  const made = await call("POST", "transforms/image", { key, body: ask });
  // The header already shows that it is no image, or too large a one.
  if (made.status === 415) return 415;
  if (made.status !== 200) throw new Violation(`POST: ${made.status} ${JSON.stringify(made.body)}`);
  return judge(await fetch(made.body.url, { headers: { accept: pick(accepts) } }), ask, sized);
}

async function judge(
  response: Response,
  ask: { width: number; height?: number },
  source: Buffer,
): Promise<number> {
  const body = Buffer.from(await response.arrayBuffer());
  const explain = (problem: string) =>
    new Violation(`${problem}: ${JSON.stringify(ask)} of ${source.toString("base64").slice(0, 4000)}`);
  if (response.status === 415 || response.status === 422) {
    JSON.parse(body.toString());
    return response.status;
  }
  if (response.status !== 200) throw explain(`answered ${response.status} ${body}`);
  const { width = 0, height = 0, pageHeight, mediaType } = await sharp(body, { animated: true }).metadata();
  if (mediaType !== response.headers.get("content-type")) throw explain(`said to be ${mediaType}`);
  const fits = width >= 1 && width <= maxSidePx && (pageHeight ?? height) <= maxSidePx;
  const isAsAsked = width <= ask.width && (pageHeight ?? height) <= (ask.height ?? maxSidePx);
  if (!fits || !isAsAsked) throw explain(`is ${width}×${pageHeight ?? height}`);
  return 200;
}

/** Whole numbers from 0 up to, but not including, the bound. */
const below = (random: Random) => (bound: number) => random.int(0, bound - 1);

function readRssBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** What confines a renderer stands between it and the server. */
function listBelow(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").match(/\d+/g) ?? [];
    return children.flatMap((child) => [Number(child), ...listBelow(Number(child))]);
  } catch {
    return [];
  }
}

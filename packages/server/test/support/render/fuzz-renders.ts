import sharp from "sharp";
import { fitModes } from "../../../src/serving/images/recipe.ts";
import {
  maxPixels,
  type RenderProblem,
  RenderTimeout,
} from "../../../src/serving/images/render/render-job.ts";
import type {
  RenderPool,
  RenderRequest,
  RenderResult,
} from "../../../src/serving/images/render/render-pool.ts";
import { createCorpus, mutateImage, type Random } from "./mutate-image.ts";
import { createRandom } from "./test-images.ts";

type FuzzOutcome = "ok" | RenderProblem | "timeout" | "failure";

export interface FuzzReport {
  outcomes: Record<FuzzOutcome, number>;
  /** More than the pool's size means that workers were killed or crashed. */
  workersSeen: number;
  /** What should never happen: other errors, and images that are not what the result says. */
  failures: string[];
}

const formats = ["jpeg", "png", "webp", "avif", "fallback"] as const;

/** Renders damaged images, the same ones for the same seed, a few at a time. */
export async function fuzzRenders(
  pool: RenderPool,
  { count, seed, lanes }: { count: number; seed: number; lanes: number },
): Promise<FuzzReport> {
  const corpus = await createCorpus();
  const random = createRandom(seed);
  const outcomes = {
    ok: 0,
    unsupported: 0,
    unprocessable: 0,
    "too-large": 0,
    "too-many-bytes": 0,
    "result-too-large": 0,
    timeout: 0,
    failure: 0,
  };
  const failures: string[] = [];
  const pids = new Set<number>();
  let started = 0;

  async function runLane(): Promise<void> {
    while (started < count) {
      const number = started++;
      const request = createRequest(corpus, random);
      const outcome = await tryRender(pool, request).catch((error: unknown) => {
        failures.push(`image ${number} of seed ${seed}: ${error}`);
        return "failure" as const;
      });
      outcomes[outcome]++;
      for (const pid of pool.status().workerPids) pids.add(pid);
    }
  }

  await Promise.all(Array.from({ length: lanes }, runLane));
  return { outcomes, workersSeen: pids.size, failures };
}

function createRequest(corpus: Buffer[], random: Random): RenderRequest {
  const side = () => 1 + random(200);
  const bytes = mutateImage(corpus, random);
  return {
    account: "fuzz",
    readSource: async () => bytes,
    recipe: {
      width: side(),
      ...(random(2) === 0 ? {} : { height: side() }),
      fit: fitModes[random(fitModes.length)] ?? "cover",
      quality: 1 + random(100),
    },
    format: formats[random(formats.length)] ?? "fallback",
  };
}

async function tryRender(pool: RenderPool, request: RenderRequest): Promise<FuzzOutcome> {
  try {
    const described = await pool.describe(request, true);
    const result = await pool.render(request);
    // Only what is small enough to be decoded has facts.
    if (described.ok && described.facts.width * described.facts.height > maxPixels)
      throw new Error(`described as ${described.facts.width}×${described.facts.height}`);
    if (result.ok) await assertHonest(result);
    return result.ok ? "ok" : result.problem;
  } catch (error) {
    if (error instanceof RenderTimeout) return "timeout";
    throw error;
  }
}

async function assertHonest(result: Extract<RenderResult, { ok: true }>): Promise<void> {
  const { width, height, pageHeight, mediaType } = await sharp(result.bytes, { animated: true }).metadata();
  const actual = `${mediaType} ${width}×${pageHeight ?? height}`;
  const reported = `${result.contentType} ${result.width}×${result.height}`;
  if (actual !== reported) throw new Error(`reported ${reported}, is ${actual}`);
}

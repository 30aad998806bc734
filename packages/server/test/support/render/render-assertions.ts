import assert from "node:assert/strict";
import sharp from "sharp";
import type { Recipe } from "../../../src/serving/images/recipe.ts";
import type { RequestedFormat } from "../../../src/serving/images/render/render-job.ts";
import type { RenderPool, RenderResult } from "../../../src/serving/images/render/render-pool.ts";
import { openTestPool } from "./open-test-pool.ts";

let pool: RenderPool | undefined;

/** For an `after` hook of every file that renders. */
export async function closePool(): Promise<void> {
  await pool?.close();
  pool = undefined;
}

type Asked = Partial<Omit<Recipe, "format">> & { format?: RequestedFormat };
type Rendered = Extract<RenderResult, { ok: true }>;
export const outputFormats = ["jpeg", "png", "webp", "avif"] as const;

export function tryRender(
  bytes: Uint8Array,
  { format = "png", fit = "scale-down", quality = 90, ...sides }: Asked,
) {
  pool ??= openTestPool({ size: 2, waitingPerAccount: 50 });
  return pool.render({
    account: "a",
    readSource: async () => bytes,
    recipe: { fit, quality, ...sides },
    format,
  });
}

export async function render(bytes: Uint8Array, asked: Asked): Promise<Rendered> {
  const result = await tryRender(bytes, asked);
  assert.ok(result.ok, `refused as ${!result.ok && result.problem}`);
  const { width, height, pageHeight } = await sharp(result.bytes, { animated: true }).metadata();
  assert.deepEqual([result.width, result.height], [width, pageHeight ?? height], "reports its true size");
  return result;
}

export async function assertRefused(bytes: Uint8Array, ...problems: string[]): Promise<void> {
  for (const format of ["jpeg", "webp"] as const) {
    const result = await tryRender(bytes, { width: 50, format });
    assert.ok(
      problems.includes(result.ok ? "none" : result.problem),
      `answered ${result.ok || result.problem}`,
    );
  }
}

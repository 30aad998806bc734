import type { ImageFacts } from "../facts/image-facts.ts";
import { RenderUnavailable } from "../render-job.ts";
import { findLayers } from "../sandbox/find-layers.ts";
import type { OpenSource } from "../send-source.ts";
import { findToolKind, signatureBytes } from "../sniff-image.ts";
import { listKinds, type ToolKind, type Tools, toolRecipes } from "./recipes.ts";
import { runTool, type ToolOutcome } from "./run-tool.ts";

type Source = Uint8Array | OpenSource;

export interface Converter {
  /** The kind of a source that one of the tools can convert; null for every other, images included. */
  findKind(source: Source): Promise<ToolKind | null>;
  /** A JPEG or PNG of it. `refused` if the tool cannot read it, `unread` if the source could not be sent. */
  toPicture(kind: ToolKind, source: Source): Promise<Buffer | "refused" | "unread">;
  /** Facts that are not visible in the picture. */
  findFacts(kind: ToolKind, source: Source): Promise<Partial<ImageFacts>>;
}

/** Wall-clock time; CPU time is limited by the system. */
const giveUpMs = 60_000;

/** Tools work inside a renderer's turn, so there are never more of them than of renderers. */
export function createConverter(tools: Tools, givesWay: () => boolean): Converter {
  const kinds = new Set(listKinds(tools));

  async function run(kind: ToolKind, script: string, source: Source): Promise<ToolOutcome> {
    const { layers } = await findLayers();
    const programs = toolRecipes[kind].needs.map((name) => tools.get(name) ?? name);
    const outcome = await runTool({ layers, givesWay: givesWay(), programs, script, source, giveUpMs });
    if (outcome.kind === "failed") throw new RenderUnavailable(`${programs[0]} failed: ${outcome.reason}`);
    return outcome;
  }

  return {
    async findKind(source) {
      if (kinds.size === 0) return null;
      const kind = findToolKind(await readHead(source));
      return kind !== null && kinds.has(kind) ? kind : null;
    },
    async toPicture(kind, source) {
      const outcome = await run(kind, toolRecipes[kind].picture, source);
      return outcome.kind === "done" ? outcome.bytes : (outcome.kind as "refused" | "unread");
    },
    async findFacts(kind, source) {
      const { facts } = toolRecipes[kind];
      if (facts === undefined) return {};
      const outcome = await run(kind, facts, source);
      return outcome.kind === "done" ? readProbe(outcome.bytes.toString()) : {};
    },
  };
}

async function readHead(source: Source): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  const head = Buffer.alloc(Math.min(signatureBytes, source.sizeBytes));
  await source.read(head, 0);
  return head;
}

const mostPx = 65_536;
const mostSec = 366 * 86_400;

/** ffprobe's output may be controlled by a hostile file, so only numbers within bounds are used. */
export function readProbe(json: string): Partial<ImageFacts> {
  const { streams, format } = parse(json);
  const [stream] = (Array.isArray(streams) ? streams : []) as Record<string, unknown>[];
  const { width, height, side_data_list: sideData } = stream ?? {};
  const rotations = (Array.isArray(sideData) ? sideData : []).map((data) => Number(data?.rotation));
  const isTurned = rotations.some((degrees) => Math.abs(degrees) % 180 === 90);
  const duration = Math.round(Number((format as { duration?: unknown } | undefined)?.duration) * 1000) / 1000;
  return {
    ...(isSide(width) && isSide(height)
      ? { width: isTurned ? height : width, height: isTurned ? width : height }
      : {}),
    ...(duration > 0 && duration <= mostSec ? { duration } : {}),
  };
}

function parse(json: string): Record<string, unknown> {
  try {
    return (JSON.parse(json) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const isSide = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= mostPx;

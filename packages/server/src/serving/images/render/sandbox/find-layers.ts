import { fileURLToPath } from "node:url";
import { readFrames } from "../frame-channel.ts";
import { type Launched, launchRenderer } from "./launch-renderer.ts";
import { findProgram, type LayerName, type Layers, layerNames, noLayers } from "./layers.ts";
import { findSyscallFilter } from "./syscall-filter.ts";

export interface FoundLayers {
  /** A renderer has started with all of these together. */
  layers: Layers;
  /** Why each of the others is missing. */
  missing: Map<LayerName, string>;
}

export const workerPath = fileURLToPath(new URL("../render-worker.ts", import.meta.url));
/** Wall-clock time, on a machine that may be busy. */
const patienceMs = 60_000;
const cpuSec = 60;

let found: Promise<FoundLayers> | undefined;

/** The layers this machine supports, tested once per process. Throws if no renderer starts at all. */
export function findLayers(): Promise<FoundLayers> {
  found ??= tryLayers().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function tryLayers(): Promise<FoundLayers> {
  const missing = new Map<LayerName, string>();
  const possible = layerNames.filter((layer) => {
    const obstacle = findObstacle(layer);
    if (obstacle !== null) missing.set(layer, obstacle);
    return obstacle === null;
  });
  if ((await tryToStart(new Set(possible))) === null) return { layers: new Set(possible), missing };

  // A temporary lack of processes must not disable the layers permanently.
  const trouble = await tryToStart(noLayers);
  if (trouble !== null) throw new Error(`A renderer does not start, confined or not: ${trouble}`);
  let layers = noLayers;
  for (const layer of possible) {
    const more = new Set([...layers, layer]);
    // Only bwrap can load the filter.
    const needed = layer === "syscalls" ? missing.get("namespaces") : undefined;
    const refusal = needed ?? (await tryToStart(more));
    if (refusal === null) layers = more;
    else missing.set(layer, refusal);
  }
  return { layers, missing };
}

/** Why a layer cannot work, before it is tried. */
function findObstacle(layer: LayerName): string | null {
  const needs = (program: string) => (findProgram(program) === null ? `${program} is not installed` : null);
  switch (layer) {
    case "limits":
      return needs("sh");
    case "privileges":
      return findProgram("bwrap") === null ? needs("setpriv") : null;
    case "permission":
      return null;
    case "namespaces":
      return needs("bwrap");
    case "syscalls":
      if (findSyscallFilter(process.arch) === null) return `there is no filter for ${process.arch}`;
      return needs("bwrap");
    case "user":
      return process.getuid?.() === 0 ? null : "only root can start it as another user";
  }
}

/** Null if a worker reported that it is ready, including sharp; otherwise the problem. */
async function tryToStart(layers: Layers): Promise<string | null> {
  try {
    return await hearFrom(launchRenderer(workerPath, [], { layers, givesWay: false, cpuSec }));
  } catch (error) {
    // Fails here if it may not switch to another user.
    return (error as Error).message;
  }
}

async function hearFrom({ child, channel, kill }: Launched): Promise<string | null> {
  const outcome = Promise.withResolvers<string | null>();
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(0, 500);
  });
  child.on("error", (error) => outcome.resolve(error.message));
  child.on("close", (code, signal) =>
    outcome.resolve(firstLine(stderr) ?? `it ended with ${signal ?? code}`),
  );
  if (channel !== null) {
    channel.on("error", () => {});
    readFrames(channel, () => outcome.resolve(null));
  }
  const timer = setTimeout(() => outcome.resolve("it did not start in time"), patienceMs);
  try {
    return await outcome.promise;
  } finally {
    clearTimeout(timer);
    kill();
  }
}

function firstLine(text: string): string | null {
  return text.split("\n").find((line) => line.trim() !== "") ?? null;
}

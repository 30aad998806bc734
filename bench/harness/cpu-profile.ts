import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

interface CpuProfile {
  nodes: { id: number; callFrame: CallFrame; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

interface CallFrame {
  functionName: string;
  url: string;
  lineNumber: number;
}

export interface Cost {
  place: string;
  /** Shares of all time that was not idle. */
  self: number;
  total: number;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const notWork = new Set(["(idle)", "(root)", "(program)"]);

/** Where the last `seconds` of a profiled process went, the dearest first. */
export function summariseProfile(path: string, seconds: number): Cost[] {
  const profile = JSON.parse(readFileSync(path, "utf8")) as CpuProfile;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  const add = (sums: Map<string, number>, place: string, time: number) =>
    sums.set(place, (sums.get(place) ?? 0) + time);
  let worked = 0;
  for (const [leaf, time] of lastSamples(profile, seconds)) {
    const frame = nodes.get(leaf)?.callFrame;
    if (frame === undefined || notWork.has(frame.functionName)) continue;
    worked += time;
    add(self, placeOf(frame), time);
    const seen = new Set<string>();
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const above = nodes.get(id)?.callFrame;
      if (above !== undefined) seen.add(placeOf(above));
    }
    for (const place of seen) add(total, place, time);
  }
  return [...total]
    .map(([place, time]) => ({ place, self: (self.get(place) ?? 0) / worked, total: time / worked }))
    .sort((a, b) => b.self - a.self);
}

function* lastSamples({ samples, timeDeltas }: CpuProfile, seconds: number): Generator<[number, number]> {
  let left = seconds * 1e6;
  for (let i = samples.length - 1; i >= 0 && left > 0; i--) {
    const time = timeDeltas[i] ?? 0;
    left -= time;
    yield [samples[i] ?? 0, time];
  }
}

function placeOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName === "" ? "(anonymous)" : functionName;
  if (url === "") return name;
  const file = url.startsWith("file://") ? relative(root, fileURLToPath(url)) : url;
  return `${name} ${file}:${lineNumber + 1}`;
}

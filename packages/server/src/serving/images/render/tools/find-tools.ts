import { findProgram } from "../sandbox/layers.ts";

/** Optional programs that make a picture of what the decoders cannot read. */
export const toolNames = ["heif-convert", "pdftoppm", "ffmpeg", "ffprobe"] as const;

export type ToolName = (typeof toolNames)[number];
/** Paths of those that are installed. */
export type Tools = ReadonlyMap<ToolName, string>;

export const noTools: Tools = new Map();

/** Looks only where the system keeps programs, because they will handle hostile files. */
export function findTools(): Tools {
  return new Map(
    toolNames.flatMap((name) => {
      const path = findProgram(name);
      return path === null ? [] : [[name, path] as const];
    }),
  );
}

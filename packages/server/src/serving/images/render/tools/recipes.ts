import { findProgram } from "../sandbox/layers.ts";

/** The kinds of files that tools convert to images, by their first bytes: see `findToolKind`. */
export type ToolKind = "heic" | "pdf" | "mov" | "matroska";

export interface ToolRecipe {
  needs: readonly ToolName[];
  /** Declared types under which such files are uploaded. */
  types: readonly string[];
  /** Writes a picture to stdout; `source` is the file, and `$1` and on are the paths of `needs`. */
  picture: string;
  /** Writes what ffprobe knows about it to stdout. */
  facts?: string;
}

/** A page is drawn at this size; a larger one would take seconds of CPU. */
const pagePx = 2048;
const posterPx = 1920;
const maxPixels = 50_000_000;

// The demuxer is fixed and reads nothing but files, of which the sandbox has one: a playlist cannot name another.
const input = (demuxer: string) =>
  `-v error -protocol_whitelist file -format_whitelist ${demuxer} -max_pixels ${maxPixels} -f ${demuxer}`;

function video(demuxer: string, types: string[]): ToolRecipe {
  const poster = (atSec: number) =>
    `"$1" -nostdin -hide_banner -threads 1 ${input(demuxer)} -ss ${atSec} -i file:source -map 0:v:0 -frames:v 1 ` +
    `-vf "scale='min(${posterPx},iw)':'min(${posterPx},ih)':force_original_aspect_ratio=decrease" ` +
    "-threads 1 -c:v mjpeg -q:v 2 -f image2pipe pipe:1 >picture";
  return {
    needs: ["ffmpeg", "ffprobe"],
    types,
    // The first frame is often black, and a short video has nothing after a second.
    picture: `${poster(1)} && test -s picture || ${poster(0)}
      test -s picture && cat picture`,
    facts:
      `"$2" -hide_banner -threads 1 ${input(demuxer)} -select_streams v:0 -of json ` +
      "-show_entries stream=width,height:stream_side_data=rotation:format=duration file:source",
  };
}

export const toolRecipes: Readonly<Record<ToolKind, ToolRecipe>> = {
  heic: {
    needs: ["heif-convert"],
    types: ["image/heic", "image/heif"],
    // Turned as the file says. A file with several images makes one picture each.
    picture: `"$1" -q 95 source picture.jpg >&2 && set -- picture*.jpg && cat "$1"`,
  },
  pdf: {
    needs: ["pdftoppm"],
    types: ["application/pdf"],
    picture: `"$1" -q -f 1 -l 1 -singlefile -scale-to ${pagePx} -png source >picture && test -s picture && cat picture`,
  },
  mov: video("mov", ["video/mp4", "video/quicktime", "video/x-m4v"]),
  matroska: video("matroska", ["video/webm", "video/x-matroska"]),
};

export const toolKinds = Object.keys(toolRecipes) as ToolKind[];

/** The kinds whose tools are all installed. */
export function listKinds(tools: Tools): ToolKind[] {
  return toolKinds.filter((kind) => toolRecipes[kind].needs.every((name) => tools.has(name)));
}

/** The declared types that count as images because of these tools. */
export function listToolTypes(tools: Tools): string[] {
  return listKinds(tools).flatMap((kind) => toolRecipes[kind].types);
}

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

import { existsSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { launchConfined, strangerId } from "../sandbox/launch-confined.ts";
import { findProgram, type Layers } from "../sandbox/layers.ts";
import { type OpenSource, sendPieces } from "../send-source.ts";

export interface ToolRun {
  layers: Layers;
  /** Runs at a low priority, if the system allows it. */
  givesWay: boolean;
  /** Paths, which the script has as `$1` and on. */
  programs: readonly string[];
  /** For a POSIX shell, in a folder with nothing but the file `source`. */
  script: string;
  source: Uint8Array | OpenSource;
  /** Wall-clock time. */
  giveUpMs: number;
}

/**
 * `refused`: the tool does not read the file, or not within its limits. `failed`: it did not start, which says nothing
 * about the file. `unread`: the source failed while it was being sent.
 */
export type ToolOutcome =
  | { kind: "done"; bytes: Buffer }
  | { kind: "refused" }
  | { kind: "unread" }
  | { kind: "failed"; reason: string };

const megabyte = 1024 * 1024;
/** A file of 50 megapixels, decoded, and room for the tool's own copies. */
const dataBytes = 1024 * megabyte;
/** The source and the picture. */
const workspaceBytes = 256 * megabyte;
const fileBytes = 160 * megabyte;
const maxPictureBytes = 64 * megabyte;
const maxErrorChars = 500;
const cpuSec = 20;

/** Public files that tools read besides libraries: symbolic links to libraries, and fonts. */
const sharedPaths = [
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/fonts",
  "/usr/share/fonts",
  "/usr/share/fontconfig",
  "/usr/share/poppler",
];

/** The exit code of our script when the tool has rejected the file. */
const refusedCode = 65;

export async function runTool(run: ToolRun): Promise<ToolOutcome> {
  const { layers } = run;
  const shell = findProgram("sh");
  const cat = findProgram("cat");
  if (shell === null || cat === null) return { kind: "failed", reason: "there is no shell" };
  if (layers.has("namespaces")) return runIn(run, undefined, shell, cat);
  const folder = await mkdtemp(join(tmpdir(), "upstow-tool-"));
  try {
    if (layers.has("user")) await chown(folder, strangerId, strangerId);
    return await runIn(run, folder, shell, cat);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runIn(
  { layers, givesWay, programs, script, source, giveUpMs }: ToolRun,
  folder: string | undefined,
  shell: string,
  cat: string,
): Promise<ToolOutcome> {
  const launched = launchConfined(
    [shell, "-c", wrap(script), "tool", ...programs],
    ["pipe", "pipe", "pipe", "ignore"],
    {
      layers,
      givesWay: false,
      limits: { cpuSec, dataBytes, fileBytes },
      visiblePaths: [shell, cat, ...programs, ...sharedPaths.filter((path) => existsSync(path))],
      workspaceBytes,
      ...(folder === undefined ? {} : { folder }),
      mayStartPrograms: true,
      env: { PATH: "/usr/bin:/bin", HOME: "/" },
    },
  );
  const { child } = launched;
  if (child.pid === undefined) return { kind: "failed", reason: "the process could not be started" };
  if (givesWay) lowerPriority(child.pid);
  const ended = Promise.withResolvers<number | null>();
  let isTooMuch = false;
  let isLate = false;
  let isUnread = false;
  let errors = "";
  const chunks: Buffer[] = [];
  let pictureBytes = 0;
  const output = child.stdout as Readable;
  output.on("data", (chunk: Buffer) => {
    pictureBytes += chunk.length;
    if (pictureBytes <= maxPictureBytes) return void chunks.push(chunk);
    isTooMuch = true;
    launched.kill();
  });
  (child.stderr as Readable).setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-maxErrorChars);
  });
  child.on("error", () => ended.resolve(null));
  child.on("close", (code) => ended.resolve(code));
  const timer = setTimeout(() => {
    isLate = true;
    launched.kill();
  }, giveUpMs);
  try {
    const input = child.stdin as Writable;
    // It may stop reading at any time; its exit code says why.
    input.on("error", () => {});
    const sending = send(input, source).catch(() => {
      if (input.destroyed) return;
      isUnread = true;
      launched.kill();
    });
    const code = await ended.promise;
    input.destroy();
    await sending;
    if (isUnread) return { kind: "unread" };
    if (code === 0) return { kind: "done", bytes: Buffer.concat(chunks, pictureBytes) };
    if (isTooMuch || isLate || code === refusedCode) return { kind: "refused" };
    return { kind: "failed", reason: `exit code ${code}: ${errors}` };
  } finally {
    clearTimeout(timer);
  }
}

/** 126 and 127 come from shell and loader: the tool itself did not start. */
function wrap(script: string): string {
  return `cat >source || exit 1
{ ${script}
}
case $? in 0) exit 0;; 126) exit 126;; 127) exit 127;; *) exit ${refusedCode};; esac`;
}

async function send(input: Writable, source: Uint8Array | OpenSource): Promise<void> {
  if (source instanceof Uint8Array) input.write(source);
  else await sendPieces(input, source);
  input.end();
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // Optional, and containers may forbid it.
  }
}

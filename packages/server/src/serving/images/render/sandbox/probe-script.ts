import { execFileSync } from "node:child_process";
import { fstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import { workerChannelFd, writeFrame } from "../frame-channel.ts";
import { type ConfinementReport, type ProbeTargets, probeSignal, signalling } from "./probe-confinement.ts";

// Runs in place of a renderer: tries what malicious code in one would try, and reports the result.

const targets = JSON.parse(process.argv[2] ?? "") as ProbeTargets;
const channel = new Socket({ fd: workerChannelFd, readable: true, writable: true });
// Before it opens any of its own.
const descriptors = listDescriptors();
const report: ConfinementReport = {
  reached: [
    ...targets.files.filter((path) => works(() => readFileSync(path))).map((path) => `read ${path}`),
    ...targets.folders.filter((path) => works(() => readdirSync(path))).map((path) => `list ${path}`),
    ...targets.folders.filter((path) => works(() => writeInto(path))).map((path) => `write to ${path}`),
    ...(works(() => readFileSync(`/proc/${targets.pid}/environ`)) ? ["read the service's environment"] : []),
    ...(works(() => process.kill(targets.pid, probeSignal)) ? [signalling] : []),
    ...(works(() => execFileSync(process.execPath, ["--version"], { stdio: "pipe" }))
      ? ["run a program"]
      : []),
    ...((await canConnect(targets.port)) ? ["open a connection"] : []),
  ],
  environment: Object.keys(process.env).sort(),
  descriptors,
  folder: process.cwd(),
  userId: process.getuid?.() ?? -1,
  limits: findLimits(),
};
writeFrame(channel, report, new Uint8Array());
channel.end();

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

function writeInto(folder: string): void {
  const path = join(folder, "renderer-was-here");
  // No bytes, because the file size limit kills a process that writes any.
  writeFileSync(path, "", { flag: "wx" });
  rmSync(path);
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    } catch {
      resolve(false);
    }
  });
}

/** Excludes descriptors that Node opens itself: none is a file, folder or socket, except one it keeps in reserve. */
function listDescriptors(): string[] {
  return Array.from({ length: 1024 }, (_, fd) => fd).flatMap((fd) => {
    try {
      const found = fstatSync(fd);
      if (found.isSocket()) return [`${fd}: socket`];
      if (found.isCharacterDevice()) return [`${fd}: device`];
      return found.isFile() || found.isDirectory() ? [`${fd}: file ${found.ino}`] : [];
    } catch {
      return [];
    }
  });
}

function findLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

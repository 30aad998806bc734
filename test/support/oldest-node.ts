import { execFileSync } from "node:child_process";

/** The Node 20 that npm was started with, or that of the machine. Where neither is that old, the one that runs this. */
export function findOldestNode(): string {
  const isOld = (node: string) => {
    try {
      return execFileSync(node, ["--version"], { encoding: "utf8" }).startsWith("v20.");
    } catch {
      return false;
    }
  };
  const candidates = [process.env["npm_node_execpath"] ?? "", "/usr/bin/node"];
  return candidates.find((node) => node !== "" && isOld(node)) ?? process.execPath;
}

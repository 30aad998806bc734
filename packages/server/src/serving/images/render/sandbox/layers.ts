import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/**
 * What confines a renderer compromised by a hostile image, weakest first. An empty environment and no inherited
 * descriptors are not listed, because every renderer has those.
 *
 * - `limits`: memory, processor time, open files, no file written, no core dump.
 * - `privileges`: nothing it runs gains privileges, including set-uid programs.
 * - `permission`: Node's permission model. It stops JavaScript only, not code that broke out of a decoder.
 * - `namespaces`: a file tree with node, its libraries, sharp and our render files; no network; no other process.
 * - `syscalls`: no new process, no socket, and none of the kernel's riskier corners.
 * - `user`: a different user than the service's.
 */
export const layerNames = ["limits", "privileges", "permission", "namespaces", "syscalls", "user"] as const;

export type LayerName = (typeof layerNames)[number];
export type Layers = ReadonlySet<LayerName>;

export const noLayers: Layers = new Set();

/** Not from PATH, because a program planted there must not get to confine renderers. */
const folders = ["/usr/bin", "/bin", "/usr/local/bin"];

export function findProgram(name: string): string | null {
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return null;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { type FoundLayers, findLayers } from "../../serving/images/render/sandbox/find-layers.ts";
import { type LayerName, layerNames } from "../../serving/images/render/sandbox/layers.ts";
import { probeConfinement } from "../../serving/images/render/sandbox/probe-confinement.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("renderers");

const titles: Record<LayerName, string> = {
  limits: "resource limits",
  privileges: "no new privileges",
  permission: "Node's permission model (JavaScript only)",
  namespaces: "namespaces (bwrap)",
  syscalls: "a system call filter (bwrap)",
  user: "another user",
};

const installBwrap =
  "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces; in a container they need a seccomp profile that permits them.";
const fixes: Record<LayerName, string> = {
  limits: "Put a POSIX shell at /bin/sh.",
  privileges: "Install util-linux (setpriv) or bubblewrap.",
  permission: "Run the Node release that the service asks for.",
  namespaces: installBwrap,
  syscalls: installBwrap,
  user: "Make the service's program files readable to all users.",
};

/** What confines a decoder compromised by a hostile image, from the point of view of the current user. */
export async function checkRenderers({ dataDir, secrets }: Config): Promise<Check[]> {
  const { layers, missing } = await findLayers();
  const inForce = ["an empty environment", "no inherited descriptors"];
  inForce.push(...layerNames.filter((layer) => layers.has(layer)).map((layer) => titles[layer]));
  const files = secrets === null ? [join(dataDir, "secret")] : [];
  const { reached } = await probeConfinement(layers, {
    files: files.filter((path) => existsSync(path)),
    folders: existsSync(dataDir) ? [dataDir] : [],
  });
  return [
    ok(`confined by ${inForce.join(", ")}`),
    ...listMissing({ layers, missing }),
    ...(reached.length === 0
      ? [ok("a program started in their place got at nothing of the service")]
      : [warning(`A program started in their place could ${reached.join(", ")}.`, installBwrap)]),
  ];
}

function listMissing({ missing }: FoundLayers): Check[] {
  return [...missing].flatMap(([layer, reason]) => {
    // A service that is not root cannot switch users, and namespaces do more.
    if (layer === "user" && process.getuid?.() !== 0) return [];
    return [warning(`Without ${titles[layer]}: ${reason}.`, fixes[layer])];
  });
}

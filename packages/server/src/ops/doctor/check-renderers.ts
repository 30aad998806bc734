import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { type FoundLayers, findLayers } from "../../serving/images/render/sandbox/find-layers.ts";
import { type LayerName, type Layers, layerNames } from "../../serving/images/render/sandbox/layers.ts";
import { probeConfinement } from "../../serving/images/render/sandbox/probe-confinement.ts";
import { findTools, type ToolName, toolNames } from "../../serving/images/render/tools/recipes.ts";
import { runTool } from "../../serving/images/render/tools/run-tool.ts";
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
  "Install bubblewrap (apt-get install bubblewrap) and allow user namespaces; in a container, this needs a seccomp profile that permits them.";
const fixes: Record<LayerName, string> = {
  limits: "Install a POSIX shell at /bin/sh.",
  privileges: "Install util-linux (setpriv) or bubblewrap.",
  permission: "Run the Node release that the service requires.",
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
    ...(await checkTools(layers)),
    ...listMissing({ layers, missing }),
    ...(reached.length === 0
      ? [ok("a program started in their place could not access the service")]
      : [warning(`A program started in their place could ${reached.join(", ")}.`, installBwrap)]),
  ];
}

const purposes: Record<ToolName, { makes: string; from: string }> = {
  "heif-convert": { makes: "HEIC files work as images", from: "libheif-examples" },
  pdftoppm: { makes: "PDFs have an image of their first page", from: "poppler-utils" },
  ffmpeg: { makes: "videos have a poster", from: "ffmpeg" },
  ffprobe: { makes: "videos have a duration", from: "ffmpeg" },
};

/** Optional programs, each started as it would be for a file. */
async function checkTools(layers: Layers): Promise<Check[]> {
  const tools = findTools();
  const checks = toolNames.map(async (name) => {
    const { makes, from } = purposes[name];
    const path = tools.get(name);
    if (path === undefined) return ok(`${name} is not installed (optional, package ${from})`);
    const source = Buffer.from("no file of any kind");
    // Whatever it says of this file, it has started.
    const outcome = await runTool({
      layers,
      givesWay: false,
      programs: [path],
      script: tryScript,
      source,
      giveUpMs: 30_000,
    });
    if (outcome.kind === "done") return ok(`found ${path}: ${makes}`);
    const reason = outcome.kind === "failed" ? outcome.reason : "it does not end";
    return warning(`${path} does not start: ${reason}`, `Install ${from} again, or remove it.`);
  });
  return Promise.all(checks);
}

/** The shell says 126 or 127 of a program that does not start. */
const tryScript = '"$1" source out.png >&2 <source; test $? -lt 126';

function listMissing({ missing }: FoundLayers): Check[] {
  return [...missing].flatMap(([layer, reason]) => {
    // A service that is not root cannot switch users, and namespaces do more.
    if (layer === "user" && process.getuid?.() !== 0) return [];
    return [warning(`Without ${titles[layer]}: ${reason}.`, fixes[layer])];
  });
}

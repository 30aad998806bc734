import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface BubblewrapOptions {
  /** bwrap reports there which process it has started. */
  info: number;
  /** It reads its seccomp program there; null for none. */
  filter: number | null;
  visiblePaths: string[];
  /** 0 for no workspace. */
  workspaceBytes: number;
}

/** Where a workspace is, for those that have one. */
const workspace = "/work";

/** Everything before the command to run inside. */
export function bubblewrapArgs(options: BubblewrapOptions): string[] {
  const { info, filter, visiblePaths, workspaceBytes } = options;
  return [
    // Not `--unshare-all`, which silently continues without a user namespace.
    ...["user", "ipc", "pid", "net", "uts"].map((kind) => `--unshare-${kind}`),
    "--unshare-cgroup-try",
    ...["--cap-drop", "ALL"],
    ...[...listSystemPaths(), ...visiblePaths].flatMap((path) => ["--ro-bind", path, path]),
    ...(workspaceBytes === 0 ? [] : ["--size", String(workspaceBytes), "--tmpfs", workspace]),
    // No /proc either. A new one cannot be mounted if the service's own is masked, as in containers and systemd.
    ...["--remount-ro", "/"],
    ...["--chdir", workspaceBytes === 0 ? "/" : workspace],
    // Not `--new-session`: the scheduler would treat it as a separate group and weigh it like the whole service. There is
    // no terminal among its descriptors, nor a /dev to find one in.
    "--die-with-parent",
    // Otherwise there is another bwrap process in between, and the reported one is not node.
    "--as-pid-1",
    ...["--info-fd", String(info)],
    ...(filter === null ? [] : ["--seccomp", String(filter)]),
    "--",
  ];
}

const renderFolder = fileURLToPath(new URL("../..", import.meta.url));
const serverFolder = fileURLToPath(new URL("../../../../..", import.meta.url));

/** Where the system's loader finds the libraries of node, sharp and tools. Missing paths are skipped. */
const libraryFolders = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
/** glibc reads it to check whether large pages are available. */
const hugePages = "/sys/kernel/mm/transparent_hugepage";

/** The files a renderer needs to start and work. Sources are not included: they come through its channel. */
export function listCodePaths(): string[] {
  // Node reads the nearest package.json to see that the files are modules.
  return [renderFolder, join(serverFolder, "package.json"), ...findPackages("sharp", serverFolder)];
}

function listSystemPaths(): string[] {
  return [...libraryFolders, hugePages].filter((path) => existsSync(path));
}

/** The folders of a package and its dependencies, as far as they are installed: sharp has one per platform. */
function findPackages(name: string, importer: string, found = new Set<string>()): Set<string> {
  const folder = findPackage(name, importer);
  if (folder === null || found.has(folder)) return found;
  found.add(folder);
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Record<string, Record<string, string> | undefined>;
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
    findPackages(needed, folder, found);
  }
  return found;
}

function findPackage(name: string, importer: string): string | null {
  for (let folder = importer; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return null;
  }
}

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join, sep } from "node:path";
import { type Framework, INIT_FRAMEWORKS } from "@upstow/mcp/scaffolds";
import { OperatorError } from "../command.ts";

export interface Project {
  folder: string;
  /** Where the lockfile is: the folder itself, or the root of its workspace. */
  lockFolder: string;
  framework: Framework;
  packageManager: PackageManager;
  /** Yarn 2 and later, which fetch over plain HTTP only when told to. */
  isModernYarn: boolean;
  hasReact: boolean;
  isTypeScript: boolean;
  /** The project's own Node; this program may run on another one. */
  nodeRunsTypeScript(): boolean;
  /** Vite pages without a server, so Express is added. */
  isVite: boolean;
  /** From its package.json. */
  manifest: Manifest;
}

export interface Manifest {
  packageManager?: string;
  workspaces?: unknown;
  type?: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export type PackageManager = "npm" | "pnpm" | "yarn" | "bun";

const lockfiles: [string, PackageManager][] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
];
export const lockfileNames = lockfiles.map(([name]) => name);

/** Each framework by a package that only it needs. Those with pages come first, because they may use one of the
 * others as their server. */
const packageOf: Record<Framework, string> = {
  next: "next",
  sveltekit: "@sveltejs/kit",
  astro: "astro",
  "react-router": "@react-router/dev",
  express: "express",
  fastify: "fastify",
  hono: "hono",
};

export function detectProject(folder: string, asked: Framework | undefined, env: NodeJS.ProcessEnv): Project {
  const manifest = readManifest(folder);
  const lockFolder = findWorkspace(folder) ?? folder;
  const locking = lockFolder === folder ? manifest : readManifest(lockFolder);
  const packages = { ...manifest.dependencies, ...manifest.devDependencies };
  const found = (Object.keys(packageOf) as Framework[]).find((name) => packageOf[name] in packages);
  const isVite = found === undefined && "vite" in packages && (asked === undefined || asked === "express");
  const framework = asked ?? found ?? (isVite ? "express" : undefined);
  if (framework === undefined) {
    throw new OperatorError(
      "NOT_FOUND",
      `${folder} uses none of ${INIT_FRAMEWORKS.join(", ")}. Run this in your backend's folder, or pass --framework.`,
    );
  }
  return {
    folder,
    lockFolder,
    framework,
    packageManager: detectPackageManager(lockFolder, locking),
    isModernYarn: isModernYarn(lockFolder, locking),
    hasReact: "react" in packages,
    isTypeScript: isTypeScript(folder, manifest),
    nodeRunsTypeScript: () => nodeRunsTypeScript(folder, env),
    isVite,
    manifest,
  };
}

/** A TypeScript file in a plain JavaScript project would need a compiler, or not run at all. */
function isTypeScript(folder: string, { dependencies, devDependencies, scripts }: Manifest): boolean {
  return (
    existsSync(join(folder, "tsconfig.json")) ||
    "typescript" in { ...dependencies, ...devDependencies } ||
    Object.values(scripts ?? {}).some((script) => /\.tsx?\b/.test(script))
  );
}

/** From 22.18 on. In a checkout, npm puts the Node that comes with it first. */
function nodeRunsTypeScript(folder: string, env: NodeJS.ProcessEnv): boolean {
  const paths = (env["PATH"] ?? "").split(delimiter);
  const PATH = paths.filter((path) => !path.includes(`${sep}node_modules${sep}.bin`)).join(delimiter);
  const { stdout } = spawnSync("node", ["-p", "process.features.typescript"], {
    cwd: folder,
    env: { ...env, PATH },
    encoding: "utf8",
  });
  return /strip|transform/.test(stdout ?? "");
}

function readManifest(folder: string): Manifest {
  const path = join(folder, "package.json");
  if (!existsSync(path)) {
    throw new OperatorError(
      "NOT_FOUND",
      `There is no package.json in ${folder}. Run this in your project's folder.`,
    );
  }
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new OperatorError("VALIDATION_ERROR", `${path} is not valid JSON. Fix it first.`);
  }
}

/** The nearest parent folder that declares workspaces. */
function findWorkspace(folder: string): string | null {
  for (let at = dirname(folder); at !== dirname(at); at = dirname(at)) {
    if (!existsSync(join(at, "package.json"))) continue;
    if (existsSync(join(at, "pnpm-workspace.yaml")) || readManifest(at).workspaces !== undefined) return at;
  }
  return null;
}

function detectPackageManager(folder: string, { packageManager = "" }: Manifest): PackageManager {
  const named = (["pnpm", "yarn", "bun"] as const).find((name) => packageManager.startsWith(name));
  return named ?? lockfiles.find(([file]) => existsSync(join(folder, file)))?.[1] ?? "npm";
}

function isModernYarn(folder: string, { packageManager = "" }: Manifest): boolean {
  if (packageManager.startsWith("yarn@")) return !packageManager.startsWith("yarn@1.");
  const lockfile = join(folder, "yarn.lock");
  // Yarn's own guide makes a project with an empty one; Yarn 1 never writes that.
  return existsSync(lockfile) && !readFileSync(lockfile, "utf8").includes("# yarn lockfile v1");
}

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { INIT_FRAMEWORKS } from "@upstow/mcp/scaffolds";
import { type Call, type Command, OperatorError, type Result } from "../command.ts";
import { confirm } from "../confirm.ts";
import { defaultUrl, getConnection } from "../connection.ts";
import type { Credentials } from "../credentials.ts";
import { givenPath } from "../given-path.ts";
import type { Mask } from "../init/change.ts";
import { detectProject, type PackageManager, type Project } from "../init/detect-project.ts";
import { placeholderKey } from "../init/edit-files.ts";
import { planChanges } from "../init/plan-changes.ts";
import { showDiff } from "../init/show-diff.ts";
import { rememberInstalled, undoChanges, writeChanges } from "../init/undo-record.ts";
import { exitCodeOfInterrupt } from "../interruptible.ts";
import { readChoice } from "../option-values.ts";
import { ownCommand } from "../own-command.ts";

export const init: Command = {
  name: "init",
  summary: "Add uploads to a project: packages, route handler, provider and environment",
  positionals: [
    { name: "folder", description: "the project's folder (default: the current one)", isOptional: true },
  ],
  options: {
    framework: { value: "F", description: `${INIT_FRAMEWORKS.join(", ")}; usually detected` },
    "dry-run": { description: "only show what would change" },
    yes: { description: "write without asking" },
    "no-install": { description: "do not install packages" },
    undo: { description: "undo what init wrote, except files changed since" },
  },
  notes: `Shows every change before writing. Existing files are never replaced. Vite apps get an
Express server; projects without TypeScript get JavaScript.`,
  async run(call) {
    const folder = resolve(givenPath(call, call.positionals[0] ?? "."));
    return call.options.has("undo") ? undo(call, folder) : setUp(call, folder);
  },
};

async function setUp(call: Call, folder: string): Promise<Result> {
  const asked = call.options.find("framework");
  const project = detectProject(
    folder,
    asked === undefined ? undefined : readChoice("--framework", asked, INIT_FRAMEWORKS),
    call.env,
  );
  const { framework, packageManager, isVite } = project;
  const { connection, isSignedIn } = findConnection(call);
  const { changes, notes } = planChanges(project, connection);
  const mask: Mask = (text) => text.replaceAll(connection.apiKey, `${connection.apiKey.slice(0, 9)}…`);
  const result = { framework, packageManager, changes: changes.map(({ path }) => path), notes };
  if (changes.length === 0) {
    return { json: { ...result, written: false }, text: ["Nothing to do.", ...notes].join("\n") };
  }
  const shown = showDiff(changes, mask);
  if (call.options.has("dry-run")) {
    return { json: { ...result, diff: shown, written: false }, text: [shown, ...notes].join("\n") };
  }
  const isInstalled = !call.options.has("no-install");
  call.note(shown);
  if (isInstalled) await checkVersion(call, connection.url);
  if (
    !(await confirm(call, `Write ${changes.length} files to this ${isVite ? "Vite" : framework} project?`))
  ) {
    return { json: { ...result, written: false }, text: "Nothing was written." };
  }
  const takeBack = writeChanges(folder, changes);
  if (isInstalled) installOrTakeBack(call, project, takeBack);
  const command = ownCommand(call, connection.url);
  if (!isSignedIn)
    notes.unshift(`Add your key to the environment file, or run \`${command} login\` and then init again.`);
  const undoing = [command, "init", ...call.positionals, "--undo"].join(" ");
  return {
    json: { ...result, written: true },
    text: [`Wrote ${changes.length} files. \`${undoing}\` reverts them.`, ...notes].join("\n"),
  };
}

function undo(call: Call, folder: string): Result {
  const { restored, kept } = undoChanges(folder);
  const isInstalled = restored.includes("package.json") && !call.options.has("no-install");
  if (isInstalled) installPackages(call, folder, detectProject(folder, "next", call.env).packageManager);
  return {
    json: { restored, kept },
    text: [
      `Restored ${restored.length} files.`,
      ...kept.map((path) => `${path} was changed since and was kept.`),
    ].join("\n"),
    ok: kept.length === 0,
  };
}

/** A project can be set up before a key exists. */
function findConnection(call: Call): { connection: Credentials; isSignedIn: boolean } {
  try {
    return { connection: getConnection(call), isSignedIn: true };
  } catch (error) {
    if (!(error instanceof OperatorError) || error.code !== "UNAUTHORIZED") throw error;
    return {
      connection: { url: call.env["UPSTOW_URL"] || defaultUrl, apiKey: placeholderKey },
      isSignedIn: false,
    };
  }
}

/** Packages are installed from the instance, so check that it responds before writing anything. */
async function findServed(url: string): Promise<{ name: string; version: string }[]> {
  try {
    const answer = await fetch(`${url}/packages`, { signal: AbortSignal.timeout(10_000) });
    const { packages } = (await answer.json()) as { packages?: { name: string; version: string }[] };
    if (packages !== undefined) return packages;
  } catch {}
  throw new OperatorError(
    "SERVICE_UNAVAILABLE",
    `${url} does not serve its packages. Start the service, or set UPSTOW_URL to another one. With --no-install, init only writes the files.`,
  );
}

/** npx keeps running what it once got from a URL, so this may be older than what the instance serves. */
async function checkVersion({ version, note }: Call, url: string): Promise<void> {
  const served = (await findServed(url)).find(({ name }) => name === "@upstow/cli")?.version ?? version;
  if (served === version) return;
  const newer = `npx ${url}/packages/cli-${served}.tgz init`;
  note(`This is upstow ${version}, but ${url} serves ${served}. To run that one: ${newer}`);
}

function installOrTakeBack(
  call: Call,
  { folder, lockFolder, packageManager }: Project,
  takeBack: () => void,
): void {
  const putBackInstalled = rememberInstalled(lockFolder);
  // Ctrl-C also ends the package manager, which fails the install. This process survives it to undo its changes.
  const survive = () => {};
  process.once("SIGINT", survive);
  try {
    installPackages(call, folder, packageManager);
  } catch (error) {
    takeBack();
    putBackInstalled();
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(error.code, `${error.message}\nThe project is unchanged.`);
  } finally {
    process.off("SIGINT", survive);
  }
}

function installPackages(call: Call, folder: string, packageManager: PackageManager): void {
  call.note(`${packageManager} install …`);
  const { status, signal, stdout, stderr, error } = spawnSync(packageManager, ["install"], {
    cwd: folder,
    // In CI, pnpm and Yarn don't update the lockfile.
    env: { ...call.env, pnpm_config_frozen_lockfile: "false", YARN_ENABLE_IMMUTABLE_INSTALLS: "false" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (status === 0) return;
  if (signal === "SIGINT" || status === exitCodeOfInterrupt)
    throw new OperatorError("INTERRUPTED", "Stopped.");
  throw new OperatorError(
    "INSTALL_FAILED",
    `\`${packageManager} install\` failed: ${error?.message ?? explain(`${stderr}\n${stdout}`)}`,
  );
}

/** The error lines; each package manager prints them differently. */
function explain(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  // Yarn numbers its messages and stops at the first error.
  const ofYarn = lines.filter((line) => /YN(?!0000)\d{4}:/.test(line)).slice(-1);
  const telling = [...ofYarn, ...lines.filter((line) => /error|ERR_|E[A-Z]{4,}/.test(line))];
  return (telling.length > 0 ? telling : lines.slice(-5)).slice(0, 5).join("\n");
}

import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { FRAMEWORKS } from "@upstow/mcp/scaffolds";
import { type Call, type Command, OperatorError, type Result } from "../command.ts";
import { confirm } from "../confirm.ts";
import { defaultUrl, getConnection } from "../connection.ts";
import type { Credentials } from "../credentials.ts";
import { givenPath } from "../given-path.ts";
import type { Mask } from "../init/change.ts";
import { detectProject, type PackageManager } from "../init/detect-project.ts";
import { placeholderKey } from "../init/edit-files.ts";
import { planChanges } from "../init/plan-changes.ts";
import { showDiff } from "../init/show-diff.ts";
import { undoChanges, writeChanges } from "../init/undo-record.ts";
import { readChoice } from "../option-values.ts";

export const init: Command = {
  name: "init",
  summary: "Add uploads to a project: packages, route handler, provider and environment",
  positionals: [
    { name: "folder", description: "the project's folder; this one when left out", isOptional: true },
  ],
  options: {
    framework: { value: "F", description: `${FRAMEWORKS.join(", ")}; found by itself in most cases` },
    "dry-run": { description: "only show what would change" },
    yes: { description: "write without asking" },
    "no-install": { description: "leave the installing of packages to you" },
    undo: { description: "take back what init wrote, where nobody has changed it since" },
  },
  notes: `Shows every change before it writes. A file that is there already is never replaced. Pages that Vite makes get an
Express server beside them; where there is no TypeScript, none is written.`,
  async run(call) {
    const folder = resolve(givenPath(call, call.positionals[0] ?? "."));
    return call.options.has("undo") ? undo(call, folder) : setUp(call, folder);
  },
};

async function setUp(call: Call, folder: string): Promise<Result> {
  const asked = call.options.find("framework");
  const project = detectProject(
    folder,
    asked === undefined ? undefined : readChoice("--framework", asked, FRAMEWORKS),
  );
  const { framework, packageManager, isVite } = project;
  const { connection, isSignedIn } = findConnection(call);
  const { version } = (await import("../../package.json", { with: { type: "json" } })).default;
  const { changes, notes } = planChanges(project, connection, version);
  const mask: Mask = (text) => text.replaceAll(connection.apiKey, `${connection.apiKey.slice(0, 9)}…`);
  const result = { framework, packageManager, changes: changes.map(({ path }) => path), notes };
  if (changes.length === 0) {
    return { json: { ...result, written: false }, text: ["Nothing to do.", ...notes].join("\n") };
  }
  const shown = showDiff(changes, mask);
  if (call.options.has("dry-run")) {
    return { json: { ...result, diff: shown, written: false }, text: [shown, ...notes].join("\n") };
  }
  call.note(shown);
  if (
    !(await confirm(call, `Write ${changes.length} files to this ${isVite ? "Vite" : framework} project?`))
  ) {
    return { json: { ...result, written: false }, text: "Nothing was written." };
  }
  writeChanges(folder, changes);
  if (!call.options.has("no-install")) installPackages(call, folder, packageManager);
  if (!isSignedIn)
    notes.unshift("Put your key into the environment file: `upstow login` and init again, or by hand.");
  return {
    json: { ...result, written: true },
    text: [`Wrote ${changes.length} files. \`upstow init --undo\` takes them back.`, ...notes].join("\n"),
  };
}

function undo(call: Call, folder: string): Result {
  const { restored, kept } = undoChanges(folder);
  const isInstalled = restored.includes("package.json") && !call.options.has("no-install");
  if (isInstalled) installPackages(call, folder, detectProject(folder, "next").packageManager);
  return {
    json: { restored, kept },
    text: [
      `Put ${restored.length} files back as they were.`,
      ...kept.map((path) => `${path} was changed since and stays as it is.`),
    ].join("\n"),
    ok: kept.length === 0,
  };
}

/** A project can be set up before there is a key. */
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

function installPackages(call: Call, folder: string, packageManager: PackageManager): void {
  call.note(`${packageManager} install …`);
  const { status, stderr, error } = spawnSync(packageManager, ["install"], {
    cwd: folder,
    env: call.env,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status === 0) return;
  const reason = (error?.message ?? stderr).trim().split("\n").slice(0, 3).join(" ");
  throw new OperatorError(
    "INSTALL_FAILED",
    `The files are written, but \`${packageManager} install\` failed: ${reason} Run it yourself, or take all back with \`upstow init --undo --no-install\`.`,
  );
}

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { OperatorError } from "../command.ts";
import type { Change } from "./change.ts";
import { lockfileNames } from "./detect-project.ts";

interface Written {
  path: string;
  before: string | null;
  /** Digest of what was written, to detect later edits. */
  sha256: string;
}

const recordFolder = ".upstow";
const recordPath = (folder: string) => join(folder, recordFolder, "init.json");
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

/**
 * Saves the record first, so that the changes can be undone even after a crash. If a file cannot be written, none is.
 * Returns a function that undoes this run only, and keeps what an earlier init wrote.
 */
export function writeChanges(folder: string, changes: readonly Change[]): () => void {
  const record = findRecord(folder);
  const earlier = record ?? [];
  const written = changes.map(({ path, before, after }) => {
    const first = earlier.find((entry) => entry.path === path);
    // Only files that are unedited since go back to their original state; edits in between are kept.
    const isUntouched = first !== undefined && before !== null && hashOf(before) === first.sha256;
    return { path, before: isUntouched ? first.before : before, sha256: hashOf(after) };
  });
  const kept = earlier.filter((entry) => !changes.some((change) => change.path === entry.path));
  mkdirSync(join(folder, recordFolder), { recursive: true });
  // Environment files may contain secrets.
  writeFileSync(join(folder, recordFolder, ".gitignore"), "*\n");
  writeFileSync(recordPath(folder), JSON.stringify([...kept, ...written]), { mode: 0o600 });
  const begun: Change[] = [];
  const takeBack = () => {
    for (const { path, before } of begun) {
      const full = join(folder, path);
      if (before === null) remove(folder, full);
      // A file that must not be written still has its text.
      else if (readFileSync(full, "utf8") !== before) writeFileSync(full, before);
    }
    if (record === null) rmSync(join(folder, recordFolder), { recursive: true });
    else writeFileSync(recordPath(folder), JSON.stringify(record));
  };
  try {
    for (const change of changes) {
      const full = join(folder, change.path);
      mkdirSync(dirname(full), { recursive: true });
      begun.push(change);
      const isSecret = change.before === null && change.path.startsWith(".env");
      writeFileSync(full, change.after, isSecret ? { mode: 0o600 } : {});
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

/** Restores everything; files that were edited since are kept and reported. */
export function undoChanges(folder: string): { restored: string[]; kept: string[] } {
  const record = findRecord(folder);
  if (record === null) {
    throw new OperatorError("NOT_FOUND", `Nothing to undo: upstow init has written nothing in ${folder}.`);
  }
  const restored: string[] = [];
  const kept: string[] = [];
  for (const { path, before, sha256 } of record) {
    const full = join(folder, path);
    if (!existsSync(full)) continue;
    if (hashOf(readFileSync(full, "utf8")) !== sha256) {
      kept.push(path);
      continue;
    }
    if (before === null) remove(folder, full);
    else writeFileSync(full, before);
    restored.push(path);
  }
  rmSync(join(folder, recordFolder), { recursive: true });
  return { restored, kept };
}

/** Remembers what a failed install may leave changed. Returns a function that restores it. */
export function rememberInstalled(folder: string): () => void {
  const lockfiles = lockfileNames.map((name) => {
    const path = join(folder, name);
    return { path, before: existsSync(path) ? readFileSync(path) : null };
  });
  const modules = join(folder, "node_modules");
  const hadModules = existsSync(modules);
  return () => {
    for (const { path, before } of lockfiles) {
      if (before === null) rmSync(path, { force: true });
      else writeFileSync(path, before);
    }
    if (!hadModules) rmSync(modules, { recursive: true, force: true });
  };
}

function findRecord(folder: string): Written[] | null {
  return existsSync(recordPath(folder)) ? JSON.parse(readFileSync(recordPath(folder), "utf8")) : null;
}

/** Also removes folders that become empty. */
function remove(folder: string, path: string): void {
  rmSync(path, { force: true });
  for (let parent = dirname(path); parent !== folder; parent = dirname(parent)) {
    try {
      rmdirSync(parent);
    } catch {
      return;
    }
  }
}

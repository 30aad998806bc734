import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CompletedFile } from "@upstow/sdk";
import { configFolder } from "../config-folder.ts";
import type { LocalFile } from "./collect-files.ts";
import { removeOld } from "./unfinished-uploads.ts";

interface Line {
  /** Of the file at the time it was sent. */
  of: string;
  stored: CompletedFile;
}

const hashOf = (facts: unknown[]) => createHash("sha256").update(JSON.stringify(facts)).digest("hex");
const factsOf = ({ path, name, sizeBytes, modifiedMs }: LocalFile) => [path, name, sizeBytes, modifiedMs];

/**
 * What this exact command has stored so far. If it is killed or fails, the next run does not store those files again.
 * A complete run removes the journal.
 */
export function openRunJournal(env: NodeJS.ProcessEnv, command: unknown[]) {
  const folder = join(configFolder(env), "runs");
  const path = join(folder, `${hashOf(command)}.jsonl`);
  removeOld(folder);
  const stored = new Map(readLines(path).map((line) => [line.of, line.stored]));
  return {
    find: (file: LocalFile): CompletedFile | undefined => stored.get(hashOf(factsOf(file))),
    /** Synchronous, so the record survives however this process ends. */
    add(file: LocalFile, completed: CompletedFile): void {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const line: Line = { of: hashOf(factsOf(file)), stored: completed };
      appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    },
    end(): void {
      rmSync(path, { force: true });
    },
  };
}

function readLines(path: string): Line[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  // The last line may be incomplete.
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

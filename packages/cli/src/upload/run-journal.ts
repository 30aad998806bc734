import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CompletedFile } from "@upstow/sdk";
import { configFolder } from "../config-folder.ts";
import type { LocalFile } from "./collect-files.ts";
import { removeOld } from "./unfinished-uploads.ts";

interface Line {
  /** Of the file as it was when it was sent. */
  of: string;
  stored: CompletedFile;
}

const hashOf = (facts: unknown[]) => createHash("sha256").update(JSON.stringify(facts)).digest("hex");
const factsOf = ({ path, name, sizeBytes, modifiedMs }: LocalFile) => [path, name, sizeBytes, modifiedMs];

/**
 * What a run of this very command has stored so far: if it is killed or something fails, the next one does not store
 * it a second time. A run that brought everything leaves nothing behind.
 */
export function openRunJournal(env: NodeJS.ProcessEnv, command: unknown[]) {
  const folder = join(configFolder(env), "runs");
  const path = join(folder, `${hashOf(command)}.jsonl`);
  removeOld(folder);
  const stored = new Map(readLines(path).map((line) => [line.of, line.stored]));
  return {
    find: (file: LocalFile): CompletedFile | undefined => stored.get(hashOf(factsOf(file))),
    /** At once: whatever ends this process next, it is known. */
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
  // The last one may have been cut off.
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

import { globSync } from "node:fs";
import { basename } from "node:path";
import { describe } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
// Before any part: its browser is closed at the end of the suite that loads it first.
import "../../packages/server/test/support/shared-browser.ts";

/**
 * Runs the test files of a folder one after the other in this process. Loading the service and starting a browser
 * for each takes more time than most of them need for their tests. Each can also be run by itself. They must not await
 * anything at their top level: their tests would come too late.
 */
export function runParts(folder: URL): void {
  for (const path of globSync(`${fileURLToPath(folder)}*.ts`).sort()) {
    describe(basename(path, ".ts"), async () => {
      await import(pathToFileURL(path).href);
    });
  }
}

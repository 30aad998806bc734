import { after, describe } from "node:test";
import { pathToFileURL } from "node:url";
// Loaded here, outside of all test files, that being what it knows the outside by.
import { callOutside } from "../test/support/after-all-files.ts";
import { startDeadline } from "./test-file-deadline.mjs";

/**
 * Runs test files one after another in this process, each as a suite with the file's path as its name. A file is loaded
 * when the one before it is over, so what it sets up while loading does not reach the others.
 * @param {string[]} files
 */
export function runGroup(files) {
  const runFrom = (index) => {
    const file = files[index];
    // What a file leaves open keeps the process from ending.
    if (file === undefined) return void startDeadline(`one of ${files.join(", ")}`);
    describe(file, async () => {
      const stopDeadline = startDeadline(file);
      const goOn = () => {
        stopDeadline();
        callOutside(() => runFrom(index + 1));
      };
      try {
        await import(pathToFileURL(file).href);
        // After the hooks that the file registered itself, and before the suite is over: node takes no new ones then.
        after(goOn);
      } catch (error) {
        goOn();
        throw error;
      }
    });
  };
  runFrom(0);
}

import { AsyncResource } from "node:async_hooks";
import { after } from "node:test";

// node finds the suite that a test belongs to by its asynchronous scope. Outside of all suites there is this one.
const outside = new AsyncResource("TestProcess");

/** Calls as if outside of all test files. */
export function callOutside(work: () => void): void {
  outside.runInAsyncScope(work);
}

/** For what the test files of a process share: closes it when the last of them is over. */
export function afterAllFiles(close: () => Promise<void>): void {
  callOutside(() => after(close));
}

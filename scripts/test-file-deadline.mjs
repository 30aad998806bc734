// Loaded into every test file's process. node's own timeout ends a test, but a file whose tests are over and that
// still holds a socket or a timer would keep the whole run waiting. The longest take 3 minutes on a slow machine.
import { isMainThread } from "node:worker_threads";

const DEADLINE_MS = Number(process.env.UPSTOW_TEST_FILE_DEADLINE_MS ?? 480_000);

/**
 * Ends the process when the returned function was not called in time.
 * @param {string} file
 */
export function startDeadline(file) {
  const deadline = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`Still running after ${DEADLINE_MS / 1000} s: ${file}. Open: ${open}\n`);
    process.exit(1);
  }, DEADLINE_MS);
  deadline.unref();
  return () => clearTimeout(deadline);
}

// Worker threads and forked programs inherit the flag that loads this module.
if (isMainThread && /\.test\.(ts|mjs)$/.test(process.argv[1] ?? "")) startDeadline(process.argv[1]);

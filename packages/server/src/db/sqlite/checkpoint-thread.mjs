// Not TypeScript: the thread would load a compiler of its own for these lines.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

const database = new DatabaseSync(workerData, { timeout: 0 });
// As much as can be copied without holding anybody up.
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

parentPort.on("message", () => {
  try {
    checkpoint.get();
  } catch {
    // A full or failing disk. The log keeps what is not copied, and the next commit tells its callers.
  }
  parentPort.postMessage("copied");
});

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// Every fsync holds a thread for as long as the disk takes; four would make uploads wait for each other.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

// Bodies and downloads pass through memory outside the heap, which V8 counts against a heap that is small: it would
// collect garbage every few megabytes. The start command sets `--max-semi-space-size`, which is too late here: V8 would
// let the space for new objects grow to 134 MB, which makes nothing faster that was measured.
setFlagsFromString("--heap-growing-percent=200");

// Compiled code is kept beside the packages, which makes every start but the first faster and smaller. It has to be
// on before anything else is loaded.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/upstow", import.meta.url)));
await import("./app/serve.ts");

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

// Every fsync occupies a thread for as long as the disk takes; with four, uploads would wait for each other.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

// Bodies and downloads use memory outside the heap, which V8 counts against a small heap, so it would collect garbage
// every few megabytes. The start command sets `--max-semi-space-size`, which is too late here: otherwise V8 lets the
// young generation grow to 134 MB, which made nothing faster in measurements.
setFlagsFromString("--heap-growing-percent=200");

// Compiled code is cached next to the packages, which makes every start but the first faster and smaller. It has to be
// enabled before anything else is loaded.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/upstow", import.meta.url)));
await import("./app/serve.ts");

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Compiled code is kept beside the packages, which makes every start but the first faster and smaller. It has to be
// on before anything else is loaded.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/upstow", import.meta.url)));
await import("./serve.ts");

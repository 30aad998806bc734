#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

// Halves startup time. Only modules imported after this call benefit.
enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/upstow", import.meta.url)));
const [{ runCli }, { program }] = await Promise.all([import("./run-cli.ts"), import("./program.ts")]);

process.exitCode = await runCli(process.argv.slice(2), process, program);

import { runParts } from "../../../test/support/run-parts.ts";

runParts(new URL("edge-cases/", import.meta.url));

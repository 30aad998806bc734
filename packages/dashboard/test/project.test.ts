import { runParts } from "../../../test/support/run-parts.ts";

runParts(new URL("project/", import.meta.url));

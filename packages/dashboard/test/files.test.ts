import { runParts } from "../../../test/support/run-parts.ts";

runParts(new URL("files/", import.meta.url));

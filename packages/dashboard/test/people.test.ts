import { runParts } from "../../../test/support/run-parts.ts";

runParts(new URL("people/", import.meta.url));

import { runParts } from "../../../test/support/run-parts.ts";
import "./support/shared-site.ts";

runParts(new URL("behaviour/", import.meta.url));

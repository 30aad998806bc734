import { runParts } from "../../../test/support/run-parts.ts";
import "./support/shared-site.ts";

runParts(new URL("component-details/", import.meta.url));

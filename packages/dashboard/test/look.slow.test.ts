import { runParts } from "../../../test/support/run-parts.ts";
import { lookAtEveryView } from "./support/good-look.ts";

lookAtEveryView();
runParts(new URL("look/", import.meta.url));

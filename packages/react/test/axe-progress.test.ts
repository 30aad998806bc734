import { accessibleComponentsOf } from "./support/accessible.ts";

accessibleComponentsOf("progress", "motion");

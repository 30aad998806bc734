import { accessibleComponentsOf } from "./support/accessible.ts";

accessibleComponentsOf("classic");

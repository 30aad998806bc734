import { accessibleComponentsOf } from "./support/accessible.ts";

accessibleComponentsOf("dropzone", "button");

import { accessibleComponentsOf } from "./support/accessible.ts";

accessibleComponentsOf("specialty", "gallery");

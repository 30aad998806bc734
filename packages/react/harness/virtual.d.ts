declare module "virtual:examples" {
  import type { ComponentType } from "react";
  export const examples: Record<string, ComponentType>;
}

declare module "*.css";

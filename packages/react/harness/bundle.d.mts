import type { Plugin } from "esbuild";

export const examplesPlugin: Plugin;
export function bundleHarness(): Promise<{ script: string; styles: string; server: string }>;

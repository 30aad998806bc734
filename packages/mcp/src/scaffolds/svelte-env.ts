import type { SourceFile } from "./route-handler.ts";

/** SvelteKit 3 hands on nothing of `.env` that is not named here; earlier ones do not read it. */
export function renderSvelteEnv(): SourceFile {
  return {
    path: "src/env.ts",
    code: `import { defineEnvVars } from "@sveltejs/kit/env";

// SvelteKit hands on the variables that are named here. Both may be missing: a build needs neither.
export const variables = defineEnvVars({
  UPSTOW_URL: { schema: (value) => value },
  UPSTOW_API_KEY: { schema: (value) => value },
});
`,
  };
}

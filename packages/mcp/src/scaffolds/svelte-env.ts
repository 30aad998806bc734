import type { SourceFile } from "./route-handler.ts";

/** The module through which handlers read `.env`. */
export const svelteEnvImport = `// In SvelteKit 2: import { env } from "$env/dynamic/private";
import * as env from "$app/env/private";
`;

/** It has no list of variables, and another module to read them from. */
export const forSvelteKit2 = (code: string): string =>
  code.replace(svelteEnvImport, 'import { env } from "$env/dynamic/private";\n');

/** SvelteKit 3 passes on only the `.env` variables declared here; earlier versions don't read it. */
export function renderSvelteEnv(): SourceFile {
  return {
    path: "src/env.ts",
    code: `import { defineEnvVars } from "@sveltejs/kit/env";

// SvelteKit passes on the variables declared here. Both may be missing: a build needs neither.
export const variables = defineEnvVars({
  UPSTOW_URL: { schema: (value) => value },
  UPSTOW_API_KEY: { schema: (value) => value },
});
`,
  };
}

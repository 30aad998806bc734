import { defineEnvVars } from "@sveltejs/kit/env";

// SvelteKit passes on the variables declared here. Both may be missing: a build needs neither.
export const variables = defineEnvVars({
  UPSTOW_URL: { schema: (value) => value },
  UPSTOW_API_KEY: { schema: (value) => value },
});

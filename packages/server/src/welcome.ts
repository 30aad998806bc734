import type { Config } from "./config.ts";
import type { FirstStart } from "./features/accounts/first-start.ts";

/** What a person sees once the server listens. The keys are shown this one time. */
export function welcome(config: Config, firstStart: FirstStart | null): string {
  const ready = `Upstow is ready at ${config.publicUrl}`;
  if (firstStart === null) return ready;
  const { publicUrl } = config;
  return `
${ready}

  Shown once. Keep these keys somewhere safe; a lost key is revoked and replaced, never shown again.

  Live key   ${firstStart.liveKey}
  Test key   ${firstStart.testKey}
  Project    ${firstStart.projectId}
  Dashboard  ${publicUrl}/dashboard/claim#${firstStart.loginToken}
             (signs you in as the owner; works once, for 24 hours)

  Try it:

  curl -s ${publicUrl}/api/v1/projects -H "Authorization: Bearer ${firstStart.testKey}"
`;
}

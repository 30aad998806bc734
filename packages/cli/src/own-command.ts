import type { Call } from "./command.ts";

/** How this program was called, for advice that can be pasted. */
export function ownCommand({ env }: Pick<Call, "env">, url: string): string {
  if (env["npm_lifecycle_event"] === "upstow") return "npm run --silent upstow --";
  return env["npm_command"] === "exec" ? `npx ${url}/packages/cli.tgz` : "upstow";
}

import { hostname, userInfo } from "node:os";
import type { Author } from "@upstow/server/kernel/actor";
import type { Call } from "./command.ts";

/** Who runs the command, as far as the operating system tells: also behind sudo and SSH. */
export function operatorOf({ command, env }: Pick<Call, "command" | "env">): Author {
  const [address = null] = env["SSH_CONNECTION"]?.split(" ") ?? [];
  const name = `${env["SUDO_USER"] ?? findUser()}@${hostname()}`;
  return { kind: "operator", id: null, name, address, userAgent: `upstow ${command}` };
}

/** In a container, the user often has no name. */
function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

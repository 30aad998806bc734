import { readConfig } from "@upstow/server/config";
import { version } from "@upstow/server/kernel/version";
import { operatorCommands } from "./commands/operator-commands.ts";
import { userCommands } from "./commands/user-commands.ts";
import type { Program } from "./run-cli.ts";

/** The command as it runs from a checkout. */
export const program: Program = { version, userCommands, operatorCommands, readConfig };

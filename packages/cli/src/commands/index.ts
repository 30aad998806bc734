import type { Command } from "../command.ts";
import { accountCreate } from "./account-create.ts";
import { accountSetLimits } from "./account-set-limits.ts";
import { accountSetTier } from "./account-set-tier.ts";
import { backup } from "./backup.ts";
import { doctor } from "./doctor.ts";
import { keyCreate } from "./key-create.ts";
import { keyRevoke } from "./key-revoke.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { projectCreate } from "./project-create.ts";
import { projectPurge } from "./project-purge.ts";
import { serve } from "./serve.ts";

/** Over the API, with a key, against any service. In the order in which help lists them. */
export const userCommands: readonly Command[] = [login, logout, listen];

/** On the installation itself. */
export const operatorCommands: readonly Command[] = [
  serve,
  accountCreate,
  accountSetTier,
  accountSetLimits,
  projectCreate,
  projectPurge,
  keyCreate,
  keyRevoke,
  doctor,
  backup,
];

export const commands: readonly Command[] = [...userCommands, ...operatorCommands];

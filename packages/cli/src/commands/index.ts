import type { Command } from "../command.ts";
import { accountCreate } from "./account-create.ts";
import { accountLoginLink } from "./account-login-link.ts";
import { accountSetLimits } from "./account-set-limits.ts";
import { accountSetTier } from "./account-set-tier.ts";
import { backup } from "./backup.ts";
import { doctor } from "./doctor.ts";
import { filesCp } from "./files-cp.ts";
import { filesGet } from "./files-get.ts";
import { filesLs } from "./files-ls.ts";
import { filesRm } from "./files-rm.ts";
import { init } from "./init.ts";
import { keyCreate } from "./key-create.ts";
import { keyRevoke } from "./key-revoke.ts";
import { keysCreate, keysLs, keysRevoke } from "./keys.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { open } from "./open.ts";
import { projectCreate } from "./project-create.ts";
import { projectPurge } from "./project-purge.ts";
import { serve } from "./serve.ts";
import { transform } from "./transform.ts";
import { upload } from "./upload.ts";

/** Over the API, with a key, against any service. In the order in which help lists them. */
export const userCommands: readonly Command[] = [
  login,
  logout,
  init,
  upload,
  filesLs,
  filesGet,
  filesRm,
  filesCp,
  transform,
  listen,
  keysLs,
  keysCreate,
  keysRevoke,
  open,
];

/** On the installation itself. */
export const operatorCommands: readonly Command[] = [
  serve,
  accountCreate,
  accountSetTier,
  accountSetLimits,
  accountLoginLink,
  projectCreate,
  projectPurge,
  keyCreate,
  keyRevoke,
  doctor,
  backup,
];

export const commands: readonly Command[] = [...userCommands, ...operatorCommands];

import type { Command } from "../command.ts";
import { filesClaim, filesRestore } from "./files-claim.ts";
import { filesCp } from "./files-cp.ts";
import { filesGet } from "./files-get.ts";
import { filesAccess, filesLink, filesRevoke } from "./files-link.ts";
import { filesLs } from "./files-ls.ts";
import { filesRm } from "./files-rm.ts";
import { grantsCreate } from "./grants-create.ts";
import { importFolder, importS3, importSupabase, importUploadThing } from "./import.ts";
import { init } from "./init.ts";
import { keysCreate, keysLs, keysRevoke } from "./keys.ts";
import { listen } from "./listen.ts";
import { login } from "./login.ts";
import { logout } from "./logout.ts";
import { open } from "./open.ts";
import { transform } from "./transform.ts";
import { upload } from "./upload.ts";

/** Commands that use the API with a key, against any service. In the order that help lists them. */
export const userCommands: readonly Command[] = [
  login,
  logout,
  init,
  upload,
  filesLs,
  filesGet,
  filesRm,
  filesRestore,
  filesClaim,
  filesCp,
  filesLink,
  filesRevoke,
  filesAccess,
  grantsCreate,
  importFolder,
  importS3,
  importSupabase,
  importUploadThing,
  transform,
  listen,
  keysLs,
  keysCreate,
  keysRevoke,
  open,
];

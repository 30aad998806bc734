import type { Command } from "../command.ts";
import { accountCreate } from "./account-create.ts";
import { accountLoginLink } from "./account-login-link.ts";
import { accountSetLimits } from "./account-set-limits.ts";
import { accountSetTier } from "./account-set-tier.ts";
import { auditExport } from "./audit-export.ts";
import { backup } from "./backup.ts";
import { doctor } from "./doctor.ts";
import { imagesBackfill } from "./images-backfill.ts";
import { keyCreate } from "./key-create.ts";
import { keyRevoke } from "./key-revoke.ts";
import { migrateDatabase } from "./migrate-database.ts";
import { migrateStorage } from "./migrate-storage.ts";
import { projectCreate } from "./project-create.ts";
import { projectPurge } from "./project-purge.ts";
import { serve } from "./serve.ts";
import { storageProbe } from "./storage-probe.ts";
import { storageRemove } from "./storage-remove.ts";
import { storageReseal } from "./storage-reseal.ts";
import { storageSet } from "./storage-set.ts";
import { verify } from "./verify.ts";

/** Commands that run on the installation itself. */
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
  storageSet,
  storageProbe,
  storageRemove,
  storageReseal,
  imagesBackfill,
  auditExport,
  doctor,
  verify,
  backup,
  migrateStorage,
  migrateDatabase,
];

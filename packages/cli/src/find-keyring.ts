import { existsSync } from "node:fs";
import { join } from "node:path";
import { openKeyring } from "@upstow/server/app/compose";
import type { Config } from "@upstow/server/config";
import type { Keyring } from "@upstow/server/kernel/security/keyring";

/** Opening the keyring would create a secret if there is none. */
export function findKeyring(config: Config): Keyring | null {
  return config.secrets !== null || existsSync(join(config.dataDir, "secret")) ? openKeyring(config) : null;
}

import { ConfigError } from "../config.ts";
import { DatabaseUnavailable, NewerDatabase } from "../db/database.ts";
import { DataDirInUse } from "../storage/disk/identity.ts";
import { StorageUnavailable } from "../storage/object-store.ts";

const operatorErrors = [ConfigError, DataDirInUse, NewerDatabase, StorageUnavailable];

/** Errors the operator can fix become one line; anything else is a bug and keeps its stack. */
export function explainFailure(error: unknown): string {
  const { code, port, address, hostname, path } = error as NodeJS.ErrnoException & Record<string, unknown>;
  if (code === "EADDRINUSE")
    return `UPSTOW_PORT ${port} is in use by another program; stop it or choose another port`;
  if (code === "EACCES" && port !== undefined)
    return `UPSTOW_PORT ${port} requires privileges that this user lacks`;
  if (code === "EADDRNOTAVAIL" || (code === "EINVAL" && address !== undefined))
    return `UPSTOW_HOST ${address} is not an address of this machine`;
  if (code === "ENOTFOUND") return `UPSTOW_HOST ${hostname} does not resolve`;
  if ((code === "EACCES" || code === "EPERM") && path !== undefined)
    return `${path} is not readable and writable by this user; make the user that runs the service own all of UPSTOW_DATA_DIR`;
  if (error instanceof DatabaseUnavailable)
    return `${error.message}; check UPSTOW_DATABASE_URL and UPSTOW_DATA_DIR`;
  if (operatorErrors.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

import type { Config } from "../../config.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("configuration");

/** Invalid values already abort reading the configuration; what remains here are unknown variables. */
export function checkConfiguration(config: Config): Check[] {
  const database = config.databaseUrl === null ? "embedded database" : "PostgreSQL";
  const storage = config.s3 === null ? "objects on disk" : `objects in the bucket ${config.s3.bucket}`;
  return [
    ok(`${database}, ${storage}, data in ${config.dataDir}`),
    ...config.unknownVariables.map((name) =>
      warning(`${name} is set and means nothing.`, "Check its spelling, or remove it."),
    ),
  ];
}

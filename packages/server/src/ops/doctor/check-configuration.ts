import type { Config } from "../../config.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("configuration");

/** Values that are wrong stop the reading of the configuration; what is left here is what means nothing. */
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

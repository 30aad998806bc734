import type { Database } from "../../../db/database.ts";
import { AppError } from "../../../kernel/errors.ts";
import type { BucketTarget } from "./bucket-target.ts";
import { listProjects } from "./queries.ts";

/** Keys begin with their project. Where one is of somebody else's, nothing may be removed or written. */
export async function checkOwn(
  db: Database,
  target: Pick<BucketTarget, "description">,
  listed: { key: string }[],
): Promise<void> {
  const projectOf = (key: string) => key.split("/", 1)[0] ?? "";
  const ids = [...new Set(listed.map(({ key }) => projectOf(key)))];
  const own = new Set((await db.all(listProjects, { idsJson: JSON.stringify(ids) })).map(({ id }) => id));
  const foreign = listed.find(({ key }) => !own.has(projectOf(key)));
  if (foreign === undefined) return;
  throw new AppError(
    "VALIDATION_ERROR",
    `${target.description} holds objects that are not of this installation, such as ${foreign.key}.`,
    { suggestion: "Name an empty bucket, or an empty folder of it in UPSTOW_S3_PREFIX." },
  );
}

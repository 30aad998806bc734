import {
  DELETED_PROJECTS_MAX,
  IMAGE_QUALITIES,
  IMAGE_WIDTHS,
  type ProjectWithSettings,
  TIERS,
  type TierName,
  type UpdateProjectBody,
} from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { ProjectRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { type Actor, type Author, serviceAuthor } from "../kernel/actor.ts";
import { AppError, invalid, notFound, raiseTier, unauthorized } from "../kernel/errors.ts";
import { createId, randomText } from "../kernel/ids.ts";
import { revokeKeysOfProject } from "./api-keys/queries.ts";
import { record } from "./audit/record.ts";
import { insertDefaultRoute } from "./file-routes/queries.ts";
import { writeLog } from "./logs/queries.ts";
import {
  countDeletedProjects,
  deleteProjectRow,
  findOwningRight,
  findProject,
  forgetEmptyProjects,
  freeProjectPlace,
  insertProject,
  type ProjectChanges,
  takeProjectPlace,
  updateProjectRow,
} from "./queries.ts";
import { periodOf } from "./usage/period.ts";
import { insertUsageTotals } from "./usage/queries.ts";

const unlimited = Number.MAX_SAFE_INTEGER;

/** The limit is enforced by reserving a slot, not by counting, so concurrent calls cannot exceed it. */
export async function createProject(
  tx: Queryable,
  now: number,
  owner: { accountId: string; tier: TierName; author?: Author },
  name: string,
): Promise<ProjectRow> {
  const limit = TIERS[owner.tier].projects;
  const place = await tx.get(takeProjectPlace, { accountId: owner.accountId, limit: limit ?? unlimited });
  if (place === null) {
    const right = await tx.get(findOwningRight, { accountId: owner.accountId });
    if (right?.mayOwnProjects === 0) throw ownsNoProjects();
    throw new AppError("TIER_LIMIT_EXCEEDED", `The ${owner.tier} tier allows ${limit} projects.`, {
      suggestion: `Delete a project you no longer need, or ${raiseTier}.`,
    });
  }
  if (limit !== null) await boundDeletedProjects(tx, now, owner.accountId);
  const project = await tx.get(insertProject, {
    id: createId(now),
    account_id: owner.accountId,
    name,
    slug: createSlug(name),
    created_at: now,
    updated_at: now,
  });
  if (project === null) throw new Error("inserting a project returned no row");
  await tx.run(insertUsageTotals, { projectId: project.id });
  await tx.run(insertDefaultRoute, { id: createId(now), projectId: project.id, now });
  await writeLog(tx, now, {
    projectId: project.id,
    environment: "live",
    type: "project.created",
    message: `Project "${name}" was created.`,
  });
  await record(tx, now, owner.author ?? serviceAuthor, {
    action: "project.created",
    target: { kind: "project", id: project.id, label: name },
    projectId: project.id,
    after: project,
  });
  return project;
}

/**
 * Every reservation of a limited account adds up its projects, deleted ones included, so those must stay few. The
 * account's row is locked by the reserved slot, so no reservation is in progress.
 */
async function boundDeletedProjects(tx: Queryable, now: number, accountId: string): Promise<void> {
  await tx.run(forgetEmptyProjects, { accountId, period: periodOf(now) });
  const deleted = await tx.get(countDeletedProjects, { accountId });
  if (Number(deleted?.count) < DELETED_PROJECTS_MAX) return;
  throw new AppError(
    "TIER_LIMIT_EXCEEDED",
    `The account has ${DELETED_PROJECTS_MAX} deleted projects that still hold files, open uploads or usage of this month.`,
    {
      suggestion:
        "Purge deleted projects in the dashboard or with 'upstow project purge', or wait for the next month.",
    },
  );
}

function ownsNoProjects(): AppError {
  return new AppError(
    "TIER_LIMIT_EXCEEDED",
    "This account was created by an invitation. It can't own projects until the operator sets its tier.",
    { suggestion: "Ask the operator for a tier: upstow account set-tier <email> <tier>" },
  );
}

export async function getProject(deps: Deps, actor: Actor, id: string): Promise<ProjectRow> {
  const project = await deps.db.get(findProject, { id, accountId: actor.accountId });
  if (project === null) throw notFound("Project");
  return project;
}

/** Replaces what the body names and keeps the rest. */
export async function updateProject(
  deps: Deps,
  actor: Actor,
  id: string,
  { name, trashDays, ...settings }: UpdateProjectBody,
): Promise<ProjectRow> {
  const changes: ProjectChanges = {
    name: name ?? null,
    trashDays: trashDays ?? null,
    ...writeImageSettings(settings),
  };
  if (Object.values(changes).every((change) => change === null)) return getProject(deps, actor, id);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const before = await tx.get(findProject, { id, accountId: actor.accountId });
    const project = await tx.get(updateProjectRow, { id, accountId: actor.accountId, ...changes, now });
    if (before === null || project === null) throw notFound("Project");
    await writeLog(tx, now, {
      projectId: id,
      environment: "live",
      type: "project.updated",
      message: name === undefined ? "Project settings were changed." : `Project was renamed to "${name}".`,
    });
    await record(tx, now, deps.author, {
      action: "project.updated",
      target: { kind: "project", id, label: project.name },
      projectId: id,
      before,
      after: project,
    });
    return project;
  });
}

/** Revokes the keys and frees the slot; files and routes are kept (spec §4.7). */
export async function deleteProject(deps: Deps, actor: Actor, id: string): Promise<void> {
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    const deleted = await tx.get(deleteProjectRow, { id, accountId: actor.accountId, now });
    if (deleted === null) throw notFound("Project");
    await tx.run(revokeKeysOfProject, { projectId: id, now });
    await tx.run(freeProjectPlace, { accountId: actor.accountId });
    await writeLog(tx, now, {
      projectId: id,
      environment: "live",
      type: "project.deleted",
      message: "Project was deleted and its keys were revoked.",
    });
    await record(tx, now, deps.author, {
      action: "project.deleted",
      target: { kind: "project", id, label: deleted.name },
      projectId: id,
      before: deleted,
    });
  });
}

export function createSlug(name: string): string {
  const words = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replaceAll(/^-+|-+$/g, "");
  return `${words === "" ? "project" : words}-${randomText(8)}`;
}

/** A key is bound to one project; any other, existing or not, gets the same error. */
export function requireOwnProject(actor: Actor, projectId: string): void {
  if (projectId === actor.projectId) return;
  throw unauthorized(
    "a key of another project",
    "The path contains a different project than the key's. Send a key of that project. Create its first key in the dashboard or with 'upstow key create'.",
  );
}

export type ImageSettingsRow = Pick<ProjectRow, "image_widths" | "image_qualities" | "image_presets">;
type ImageSettings = Pick<ProjectWithSettings, "imageWidths" | "imageQualities" | "imagePresets">;

/** Which variants `/i/` serves of a project's public files. */
export function readImageSettings(row: ImageSettingsRow): ImageSettings {
  return {
    imageWidths: row.image_widths === null ? [...IMAGE_WIDTHS] : JSON.parse(row.image_widths),
    imageQualities: row.image_qualities === null ? [...IMAGE_QUALITIES] : JSON.parse(row.image_qualities),
    imagePresets: row.image_presets === null ? {} : JSON.parse(row.image_presets),
  };
}

/** Null leaves a setting unchanged. */
function writeImageSettings(body: UpdateProjectBody) {
  for (const [name, { width, height }] of Object.entries(body.imagePresets ?? {}))
    if (width === undefined && height === undefined)
      throw invalid(`imagePresets.${name}`, "needs a width or a height");
  const write = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  return {
    imageWidths: write(body.imageWidths),
    imageQualities: write(body.imageQualities),
    imagePresets: write(body.imagePresets),
  };
}

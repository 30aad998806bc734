import type { Deps } from "../../deps.ts";
import { unlessReadOnly } from "../../http/read-only.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";
import { type ImageSettingsRow, readImageSettings } from "../../projects/projects.ts";
import { periodOf } from "../../projects/usage/period.ts";
import { findUsageTotal } from "../../projects/usage/queries.ts";
import { recallImageFile, type ServedFile } from "../queries.ts";
import { insertUse, takeUnits } from "./queries.ts";
import { formatRecipe, type Recipe } from "./recipe.ts";
import { toRecipe } from "./transform-image.ts";

export interface ListedVariant {
  file: ServedFile;
  recipe: Recipe;
  /** Served by the name of a preset, whose recipe may change. */
  isNamed: boolean;
}

export interface PublicVariants {
  /** By a recipe or the name of a preset. Throws if there is no such public file, or it is not on its project's lists. */
  find(wanted: Recipe | string, key: string): Promise<ListedVariant>;
  /** Counts one unit per file and month, and never refuses: a page must not lose its images to a counter. */
  count(file: ServedFile): Promise<void>;
}

/** The variants that a project's lists allow. */
interface Lists {
  widths: ReadonlySet<number>;
  qualities: ReadonlySet<number>;
  presets: ReadonlyMap<string, Recipe>;
  recipesOfPresets: ReadonlySet<string>;
}

const mostLists = 10_000;
const mostCounted = 100_000;
const presetName = /^[a-z][a-z0-9-]*$/;

export function createPublicVariants(deps: Deps): PublicVariants {
  const known = createShortMemory<Lists>(mostLists);
  const counted = createShortMemory<true>(mostCounted);

  function listsOf(row: ImageSettingsRow): Lists {
    const text = [row.image_widths, row.image_qualities, row.image_presets].join("\n");
    const lists = known.find(text) ?? readLists(row);
    known.remember(text, lists);
    return lists;
  }

  return {
    async find(wanted, key) {
      const isNamed = typeof wanted === "string";
      if (isNamed && !presetName.test(wanted)) throw notListed();
      const file = await recallImageFile(deps, key);
      if (file === null || file.access === "private") throw notFound("File");
      const lists = listsOf(file);
      const recipe = isNamed ? lists.presets.get(wanted) : wanted;
      if (recipe === undefined || !(isNamed || isListed(lists, recipe))) throw notListed();
      if (file.store !== deps.store.name) throw inOwnBucket();
      return { file, recipe, isNamed };
    },
    async count(file) {
      const period = periodOf(deps.now());
      const name = `${period} ${file.id}`;
      if (counted.find(name) !== undefined) return;
      // Nothing can be counted while the installation is being moved.
      await unlessReadOnly(countUnit(deps, file, period));
      counted.remember(name, true);
    },
  };
}

function readLists(row: ImageSettingsRow): Lists {
  const { imageWidths, imageQualities, imagePresets } = readImageSettings(row);
  const presets = new Map(Object.entries(imagePresets).map(([name, options]) => [name, toRecipe(options)]));
  return {
    widths: new Set(imageWidths),
    qualities: new Set(imageQualities),
    presets,
    recipesOfPresets: new Set([...presets.values()].map(formatRecipe)),
  };
}

function isListed({ widths, qualities, recipesOfPresets }: Lists, recipe: Recipe): boolean {
  const side = recipe.width ?? recipe.height ?? 0;
  return (widths.has(side) && qualities.has(recipe.quality)) || recipesOfPresets.has(formatRecipe(recipe));
}

/** The insert decides: of any number of first readers, one counts. */
async function countUnit(
  { db }: Pick<Deps, "db">,
  { id, project_id: projectId, environment }: ServedFile,
  period: string,
): Promise<void> {
  await db.transact(async (tx) => {
    // Keys of signed variants are hashes, so they never equal an id.
    if ((await tx.get(insertUse, { projectId, period, variant: id })) === null) return;
    const storedBytes = (await tx.get(findUsageTotal, { projectId, environment }))?.stored_bytes ?? 0;
    const limit = Number.MAX_SAFE_INTEGER;
    await tx.get(takeUnits, { projectId, environment, period, units: 1, limit, storedBytes });
  });
}

export function notListed(): AppError {
  return new AppError("FORBIDDEN", "The project does not serve this variant without a signature.", {
    suggestion:
      "Request a width and quality on the project's lists (imageWidths, imageQualities), add them with PATCH /projects/:id, or get a signed URL from POST /transforms/image.",
    headers: { "cache-control": "no-store", "access-control-allow-origin": "*" },
  });
}

function inOwnBucket(): AppError {
  return new AppError("UNSUPPORTED_TRANSFORM_TYPE", "This file is in the customer's own bucket.", {
    suggestion: "Variants are only available for files in the service's storage.",
  });
}

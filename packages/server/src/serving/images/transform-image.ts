import { hash } from "node:crypto";
import {
  TIERS,
  type TransformedImage,
  type TransformImageBody,
  type TransformOptions,
} from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { isReadable } from "../../files/life.ts";
import { findFile } from "../../files/queries.ts";
import { nameFile } from "../../files/serialize.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound, unauthorized } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { type Cdn, cdnFor } from "../../projects/file-url.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { periodEndsInSec, periodOf } from "../../projects/usage/period.ts";
import { findUsageTotal, lockAccount, sumAccountUse } from "../../projects/usage/queries.ts";
import { transformUnitsFor } from "../../projects/usage/routes.ts";
import { encodeKey } from "../../storage/storage-key.ts";
import { findRevocationMark } from "../links/queries.ts";
import { checkIsImage, type LookAtImage } from "./look-at-image.ts";
import { findUnits, insertUse, takeUnits } from "./queries.ts";
import { formatRecipe, type Recipe } from "./recipe.ts";
import { formatExpiry, getSignedExpirySec, type VariantSigner } from "./variant-signature.ts";

type OnSaved = (tx: Queryable, answer: TransformedImage) => Promise<void>;

/** Paid plans and live keys only; checked before anything else. */
export function checkMayTransform(actor: Actor): void {
  if (actor.tier === "free") {
    throw new AppError(
      "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN",
      "Image variants are not part of the Free plan.",
      {
        suggestion:
          "Move the account to another plan: under Installation in the dashboard, or with 'upstow account set-tier'.",
      },
    );
  }
  if (actor.environment !== "live") {
    throw new AppError("IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY", "Image variants need a live key.", {
      suggestion: "Use the svc_live_ key of this project.",
    });
  }
}

export interface Transformed {
  file: FileRow;
  recipe: Recipe;
  answer: TransformedImage;
}

export async function transformImage(
  deps: Deps,
  { signer, lookAtImage }: { signer: VariantSigner; lookAtImage: LookAtImage },
  actor: Actor,
  body: TransformImageBody,
  onSaved: OnSaved,
): Promise<Transformed> {
  const recipe = toRecipe(body);
  const file = await getImage(deps, actor, body.key);
  const delivery = deliveryFor(file, body);
  await lookAtImage(file);
  const mark = await findRevocationMark(deps, file);
  const now = deps.now();
  const answer = await deps.db.transact(async (tx) => {
    const usage = await countUnits(tx, now, actor, file, recipe);
    const cdn = cdnFor(deps.config, actor);
    const transformed = { ...signUrl(cdn, signer, { now, file, recipe, delivery, mark }), usage };
    await onSaved(tx, transformed);
    return transformed;
  });
  return { file, recipe, answer };
}

/** Repeats the response: nothing is counted, and the URL, a capability, is recreated rather than stored. */
export async function repeatTransform(
  deps: Deps,
  signer: VariantSigner,
  actor: Actor,
  body: TransformImageBody,
  usage: TransformedImage["usage"],
): Promise<TransformedImage> {
  const file = await getImage(deps, actor, body.key);
  const delivery = deliveryFor(file, body);
  const mark = await findRevocationMark(deps, file);
  const wanted = { now: deps.now(), file, recipe: toRecipe(body), delivery, mark };
  return { ...signUrl(cdnFor(deps.config, actor), signer, wanted), usage };
}

/** One of the actor's files that can be transformed. */
export async function getImage(deps: Deps, actor: Actor, key: string): Promise<FileRow> {
  const { projectId, environment } = actor;
  const file = await deps.db.get(findFile, { projectId, environment, ...nameFile(key), now: deps.now() });
  if (file === null || !isReadable(file)) throw notFound("File");
  if (file.store !== deps.store.name) {
    throw invalid(
      "key",
      "is a file in your own bucket; variants are only available for files in the service's storage",
    );
  }
  checkIsImage(file.type, deps.imageTypes);
  return file;
}

export function toRecipe(options: TransformOptions): Recipe {
  const { width, height, fit = "scale-down", quality = 85, format = "auto" } = options;
  const { gravity, background, blur, rotate } = options;
  if (width === undefined && height === undefined) throw invalid("width", "or height is required");
  return {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    fit,
    quality,
    format,
    ...(gravity === undefined ? {} : { gravity }),
    ...(background === undefined ? {} : { background: background.toLowerCase() }),
    ...(blur === undefined ? {} : { blur }),
    ...(rotate === undefined ? {} : { rotate }),
  };
}

/** Charged once per variant and month, signed or public: the first insert pays, later requests are free. */
async function countUnits(
  tx: Queryable,
  now: number,
  actor: Actor,
  file: FileRow,
  recipe: Recipe,
): Promise<TransformedImage["usage"]> {
  const { projectId, environment, accountId } = actor;
  const period = periodOf(now);
  const limit = transformUnitsFor(actor);
  const units = recipe.format === "auto" ? 3 : 1;
  const variant = hash("sha256", `${file.id}\n${formatRecipe(recipe)}`);
  const isNew = (await tx.get(insertUse, { projectId, period, variant })) !== null;
  if (!isNew) {
    const row = await tx.get(findUnits, { projectId, environment, period });
    return { period, used: row?.transform_units ?? 0, limit, units, counted: false };
  }
  const { projects } = TIERS[actor.tier];
  if (projects !== null) await tx.get(lockAccount, { accountId });
  const total = await tx.get(findUsageTotal, { projectId, environment });
  const storedBytes = total?.stored_bytes ?? 0;
  const taken =
    units > limit
      ? null
      : await tx.get(takeUnits, { projectId, environment, period, units, limit, storedBytes });
  if (taken === null) throw unitsUsedUp(now, `The ${limit} transform units of ${period} are used up.`);
  if (projects !== null) {
    const ceiling = limit * projects;
    const use = await tx.get(sumAccountUse, { accountId, projectId, environment, period });
    // Deleted since the key was checked, so its usage would count for no one.
    if (use === null || use.isOpen === 0) throw unauthorized("the key is revoked or unknown");
    if (use.transformUnits > ceiling)
      throw unitsUsedUp(
        now,
        `All projects of the account together, deleted ones included, have used up the ${ceiling} transform units of ${period}.`,
      );
  }
  await writeLog(tx, now, {
    projectId,
    environment,
    type: "transform.created",
    message: `A variant of "${file.name}" was created.`,
    file,
    data: { recipe: formatRecipe(recipe), units },
  });
  return { period, used: taken.transform_units, limit, units, counted: true };
}

function unitsUsedUp(now: number, message: string): AppError {
  const waitSec = periodEndsInSec(now);
  return new AppError("IMAGE_TRANSFORM_LIMIT_EXCEEDED", `${message} Retry after ${waitSec} seconds.`, {
    headers: { "retry-after": String(waitSec) },
  });
}

type Delivery = TransformedImage["delivery"];

function deliveryFor({ access }: FileRow, { delivery = "signed" }: TransformImageBody): Delivery {
  if (delivery === "public" && access === "private")
    throw invalid("delivery", "must be signed: the file is private");
  return delivery;
}

export interface WantedUrl {
  now: number;
  file: Pick<FileRow, "key">;
  recipe: Recipe;
  delivery: Delivery;
  /** A private file's last revocation. */
  mark: number | null;
}

export function signUrl(
  cdn: Cdn,
  signer: VariantSigner,
  { now, file, recipe, delivery, mark }: WantedUrl,
): Omit<TransformedImage, "usage"> {
  const text = formatRecipe(recipe);
  const path = `${text}/${encodeKey(file.key)}`;
  if (delivery === "public") {
    const url = `${cdn.cdnUrl}/p/${signer.signPublic(text, file.key)}/${path}`;
    return { url, expiresAt: null, delivery, transform: recipe };
  }
  const expiresSec = getSignedExpirySec(Math.floor(now / 1000));
  const expires = formatExpiry(expiresSec, mark);
  const url = `${cdn.cdnUrl}/t/${expires}/${signer.signExpiring(expires, text, file.key)}/${path}`;
  return { url, expiresAt: isoTime(expiresSec * 1000), delivery, transform: recipe };
}

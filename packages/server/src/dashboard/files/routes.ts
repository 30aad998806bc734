import { FILE_KEY_MAX, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { nameFile } from "../../files/name-file.ts";
import { findFile } from "../../files/queries.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { notFound } from "../../kernel/errors.ts";
import { listVariantsOfFile } from "../../serving/images/queries.ts";
import { parseRecipe } from "../../serving/images/recipe.ts";
import { deleteChosen } from "./delete-chosen.ts";

/** A page that is left may still send 64 KiB; so many ids fit. */
const mostChosen = 2_000;
const mostVariants = 100;

const DeleteBody = Type.Object({
  ids: Type.Array(Type.String({ minLength: 26, maxLength: 26 }), { minItems: 1, maxItems: mostChosen }),
});
const VariantQuery = Type.Object({ key: Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }) });

export function chosenFileRoutes(app: ApiApp, deps: Deps): void {
  app.post("/files/delete", { schema: { body: DeleteBody } }, async ({ actor, body }) =>
    deleteChosen(deps, actor, [...new Set(body.ids)]),
  );

  app.get("/variants", { schema: { querystring: VariantQuery } }, async ({ actor, query }) => {
    const { projectId, environment } = actor;
    const file = await deps.db.get(findFile, { projectId, environment, ...nameFile(query.key) });
    if (file === null) throw notFound("File");
    const rows = await deps.db.all(listVariantsOfFile, { fileId: file.id, take: mostVariants });
    return {
      variants: rows.map((row) => ({
        id: row.id,
        recipe: row.recipe === null ? null : parseRecipe(row.recipe),
        type: row.content_type,
        size: row.size_bytes,
        createdAt: toIso(row.ready_at ?? row.used_at),
        usedAt: toIso(row.used_at),
      })),
    };
  });
}

function toIso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

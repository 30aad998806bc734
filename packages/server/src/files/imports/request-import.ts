import { IMPORT_MAX_SEC, IMPORT_WAIT_MAX_SEC, type ImportUploadBody } from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { refusedUrl } from "../../kernel/errors.ts";
import { hostOf } from "../../kernel/net/outbound-url.ts";
import { shortenName } from "../uploads/file-name.ts";
import { getServingRoute, newFile, type OnSaved, openUpload, readBody } from "../uploads/request-upload.ts";
import { accessFor, checkType } from "../uploads/rules.ts";
import { insertImport } from "./queries.ts";
import { urlPurpose } from "./run-import.ts";

const unknownType = "application/octet-stream";

/** In the order of an upload's request; the rest is checked when the source responds. */
export async function requestImport(
  deps: Deps,
  actor: Actor,
  body: ImportUploadBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const asked = readBody(deps, body);
  const route = await getServingRoute(deps, actor, body.routeSlug);
  const { contentType = unknownType } = body;
  if (body.contentType !== undefined) checkType(route, contentType);
  const access = accessFor(route, body.access);
  const check = await deps.importGuard.checkUrl(body.url);
  if (!check.ok) throw refusedUrl("url", check.reason, "UPSTOW_IMPORT_ALLOW_CIDRS");
  const fileName = body.fileName ?? nameIn(check.url);
  // Its size is reserved once it is known.
  const wanted = { ...body, fileName, contentType, fileSize: 0 };
  const file = newFile(deps, actor, route, wanted, { ...asked, access });
  return openUpload(deps, actor, route, file, IMPORT_WAIT_MAX_SEC + IMPORT_MAX_SEC, async (tx, saved) => {
    await tx.run(insertImport, {
      file_id: saved.id,
      project_id: saved.project_id,
      account_id: actor.accountId,
      url_sealed: deps.keyring.encrypt(check.url.href, urlPurpose),
      guesses_type: body.contentType === undefined ? 1 : 0,
      run_at: saved.created_at,
    });
    await onSaved(tx, saved);
  });
}

/** The last part of its path, or its host. Stores with folders in their keys send them as `folder%2Fphoto.jpg`. */
function nameIn(url: URL): string {
  const part = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const name = decoded(part)
    .split(/[/\\]/)
    .findLast((part) => part !== "");
  return shortenName(name ?? hostOf(url));
}

function decoded(text: string): string {
  try {
    // PostgreSQL cannot store NUL in text.
    return decodeURIComponent(text).replaceAll("\0", "_");
  } catch {
    return text;
  }
}

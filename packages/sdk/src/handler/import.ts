import { UpstowError } from "../errors.ts";
import type { FileObject } from "../wire/files.ts";
import { checkInput, toMetadata } from "./begin.ts";
import { completeImported } from "./complete.ts";
import type { Action, ImportAnswer, ImportStateAnswer } from "./protocol.ts";
import { checkFile, invalid } from "./rules.ts";
import { toSettings } from "./start.ts";
import { findFile, getRoute, type Handling, type OpenUpload, type Tools, upstream } from "./tools.ts";

type ImportAction = Extract<Action, { action: "import" }>;
type ImportState = Extract<Action, { action: "importState" }>;

/** The first question of Uppy's Url plugin, whose `companionUrl` leads here, in the path or in the query. */
export function asksForUrlFacts({ url }: Request): boolean {
  const { pathname, searchParams } = new URL(url);
  return [pathname, ...searchParams.values()].some((text) => text.endsWith("/url/meta"));
}

/** Only what the URL says by itself: this backend must not fetch what a page names. */
export function describeUrl(url: unknown): object {
  if (typeof url !== "string" || !URL.canParse(url)) throw invalid("url", "must be a URL");
  const name = new URL(url).pathname.split("/").at(-1) || "file";
  return { name: decodeName(name), type: null, size: null, statusCode: 200 };
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

// An import can be queued for a day and take an hour.
const importLifeMs = 26 * 60 * 60 * 1000;

/** Lets the service fetch a URL that the browser names, if the route allows that. */
export async function startImport<Context>(
  tools: Tools<Context>,
  body: ImportAction,
  handling: Handling<Context>,
): Promise<ImportAnswer> {
  const { url } = body;
  const route = getRoute(tools.router, body.route);
  if (route.fromUrl !== true) {
    throw new UpstowError(`The upload route "${body.route}" does not accept URLs.`, {
      code: "FORBIDDEN",
      status: 403,
      suggestion: "Allow them with `fromUrl: true` in the route's configuration.",
    });
  }
  if (typeof url !== "string" || url === "") throw invalid("url", "must be a URL");
  const input = await checkInput(route, body.input);
  const metadata = toMetadata(await route.middleware?.({ ...handling, input, files: [], url }));
  const settings = toSettings(tools, body.route, metadata);
  const {
    id: fileId,
    key,
    name,
    size,
    type,
  } = await upstream(() => tools.uploads.import({ url, ...settings }));
  const upload: OpenUpload = {
    route: body.route,
    file: { name, size, type },
    metadata,
    fileId,
    key,
    uploadId: null,
  };
  return { token: await tools.seal.seal("import", upload, importLifeMs) };
}

const nothing = { receivedBytes: 0, totalBytes: null };

export async function answerImportState<Context>(
  tools: Tools<Context>,
  body: ImportState,
  handling: Handling<Context>,
  hearFailure: (upload: OpenUpload, error: Error) => Promise<void>,
): Promise<ImportStateAnswer> {
  const upload = await tools.seal.open<OpenUpload>("import", body.token);
  const file = await findFile(tools, upload);
  if (file === null) throw new UpstowError("This import has ended.", { code: "NOT_FOUND", status: 404 });
  if (body.isCancelled === true && file.status === "UPLOADING") {
    await upstream(() => tools.files.delete(upload.key));
    return { progress: nothing };
  }
  if (file.status === "UPLOADING") return { progress: file.progress ?? nothing };
  try {
    checkImported(tools, upload, file);
  } catch (error) {
    // Not to the trash, where it would go on counting.
    if (file.status === "UPLOADED")
      await upstream(() => tools.files.deleteMany([upload.key], { purge: true }));
    await hearFailure(upload, error as Error);
    throw error;
  }
  return completeImported(tools, upload, file, handling);
}

/** The router's own rules can be checked only once the file is there. */
function checkImported<Context>({ router }: Tools<Context>, { route }: OpenUpload, file: FileObject): void {
  if (file.status !== "UPLOADED") {
    const { message = "The file was not imported." } = file.failure ?? {};
    throw new UpstowError(message, { code: "IMPORT_FAILED", status: 400 });
  }
  const checked = checkFile(getRoute(router, route).rules, file, "file");
  if (checked instanceof UpstowError) throw checked;
}

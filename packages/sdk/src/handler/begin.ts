import { UpstowError } from "../errors.ts";
import type { Metadata } from "../wire/files.ts";
import type { FileInfo, FileRoute } from "./file-router.ts";
import { toRefusal } from "./many.ts";
import type { Action, BeginAnswer } from "./protocol.ts";
import { checkFiles } from "./rules.ts";
import { issuePath } from "./standard-schema.ts";
import { getRoute, type Handling, type Ticket, type Tools } from "./tools.ts";

type Begin = Extract<Action, { action: "begin" }>;

// A long queue may take its time, and the service answers a repeated start in the same way for this long.
const ticketLifeMs = 24 * 60 * 60 * 1000;

/** Everything that may be refused is refused here, before anything is stored: a file alone, or the whole call. */
export async function beginUploads<Context>(
  { router, seal }: Tools<Context>,
  body: Begin,
  handling: Handling<Context>,
): Promise<BeginAnswer> {
  const route = getRoute(router, body.route);
  const checked = checkFiles(route, body.files, body.of);
  const files = checked.filter((file): file is FileInfo => !(file instanceof UpstowError));
  const refusals = checked.flatMap((file, index) =>
    file instanceof UpstowError ? { index, ...toRefusal(file) } : [],
  );
  if (files.length === 0) return { tickets: checked.map(() => ""), refusals };
  const input = await checkInput(route, body.input);
  const returned: unknown = await route.middleware?.({ ...handling, input, files });
  const metadata = toMetadata(returned);
  const tickets = checked.map((file) => {
    if (file instanceof UpstowError) return "";
    const ticket: Ticket = { id: crypto.randomUUID(), route: body.route, file, metadata };
    return seal.seal("ticket", ticket, ticketLifeMs);
  });
  return { tickets: await Promise.all(tickets), ...(refusals.length === 0 ? {} : { refusals }) };
}

async function checkInput<Context>(route: FileRoute<Context>, given: unknown): Promise<unknown> {
  if (route.input === undefined) return undefined;
  const checked = await route.input["~standard"].validate(given);
  if (checked.issues === undefined) return checked.value;
  const details = checked.issues.map((issue) => ({ path: issuePath(issue), message: issue.message }));
  throw new UpstowError(`${details[0]?.path ?? "input"}: ${details[0]?.message ?? "is not valid"}`, {
    code: "VALIDATION_ERROR",
    status: 400,
    details,
  });
}

function toMetadata(returned: unknown): Metadata | null {
  if (returned === undefined || returned === null) return null;
  if (typeof returned !== "object" || Array.isArray(returned)) {
    throw new TypeError("middleware must return an object, or nothing.");
  }
  return JSON.parse(JSON.stringify(returned));
}

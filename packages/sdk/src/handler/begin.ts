import { UpstowError } from "../errors.ts";
import type { Metadata } from "../wire/files.ts";
import type { FileRoute } from "./file-router.ts";
import type { Action, BeginAnswer } from "./protocol.ts";
import { checkFiles } from "./rules.ts";
import { issuePath } from "./standard-schema.ts";
import { getRoute, type Handling, type Ticket, type Tools } from "./tools.ts";

type Begin = Extract<Action, { action: "begin" }>;

// A long queue may take its time, and the service answers a repeated start in the same way for this long.
const ticketLifeMs = 24 * 60 * 60 * 1000;

/** Everything that may be refused is refused here, before anything is stored. */
export async function beginUploads<Context>(
  { router, seal }: Tools<Context>,
  body: Begin,
  handling: Handling<Context>,
): Promise<BeginAnswer> {
  const route = getRoute(router, body.route);
  const files = checkFiles(route, body.files);
  const input = await checkInput(route, body.input);
  const returned: unknown = await route.middleware?.({ ...handling, input, files });
  const metadata = toMetadata(returned);
  const tickets = files.map((file) => {
    const ticket: Ticket = { id: crypto.randomUUID(), route: body.route, file, metadata };
    return seal.seal("ticket", ticket, ticketLifeMs);
  });
  return { tickets: await Promise.all(tickets) };
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

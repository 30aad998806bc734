import { UpstowError } from "../errors.ts";
import { countFitting } from "../transfer/gather.ts";
import type { Metadata } from "../wire/files.ts";
import type { FileRoute } from "./file-router.ts";
import { toRefusal } from "./many.ts";
import type { Action, BeginAnswer } from "./protocol.ts";
import { checkFiles, type FileInfo } from "./rules.ts";
import { issuePath } from "./standard-schema.ts";
import { isInParts } from "./start.ts";
import { getRoute, type Handling, type Ticket, type Tools } from "./tools.ts";

type Begin = Extract<Action, { action: "begin" }>;

// Sealed, they have to fit into the 1 MB that a handler accepts.
const weightPerCall = 600 * 1024;

// Long queues take time, and the service repeats its response to the same start for this long.
const ticketLifeMs = 24 * 60 * 60 * 1000;

/** All checks happen here, before anything is stored; they reject single files or the whole call. */
export async function beginUploads<Context>(
  { router, seal }: Tools<Context>,
  body: Begin,
  handling: Handling<Context>,
): Promise<BeginAnswer> {
  const route = getRoute(router, body.route);
  const checked = checkFiles(route.rules, body.files, body.of);
  const files = checked.filter((file): file is FileInfo => !(file instanceof UpstowError));
  const refusals = checked.flatMap((file, index) =>
    file instanceof UpstowError ? { index, ...toRefusal(file) } : [],
  );
  if (files.length === 0) return { tickets: checked.map(() => ""), refusals };
  const input = await checkInput(route, body.input);
  const returned: unknown = await route.middleware?.({ ...handling, input, files });
  const metadata = toMetadata(returned);
  const groups = body.groups === true ? groupFiles(checked, metadata) : undefined;
  const groupIds = new Map<number, string>();
  const tickets = checked.map((file, i) => {
    if (file instanceof UpstowError) return "";
    const ticket: Ticket = { id: crypto.randomUUID(), route: body.route, file, metadata };
    const number = groups?.[i] ?? null;
    if (number !== null) {
      const group = groupIds.get(number) ?? crypto.randomUUID();
      groupIds.set(number, group);
      ticket.group = group;
    }
    return seal.seal("ticket", ticket, ticketLifeMs);
  });
  return {
    tickets: await Promise.all(tickets),
    ...(groups === undefined ? {} : { groups }),
    ...(refusals.length === 0 ? {} : { refusals }),
  };
}

/**
 * Small files are requested together: as many as one call accepts, and no more than can be sent before their URLs
 * expire. Groups are fixed here, because a ticket valid in any group would start an upload in each.
 */
function groupFiles(checked: (FileInfo | UpstowError)[], metadata: Metadata | null): (number | null)[] {
  const groups: (number | null)[] = checked.map(() => null);
  const small = checked.flatMap((file, index) =>
    file instanceof UpstowError || isInParts(file)
      ? []
      : { index, bytes: file.size, weight: JSON.stringify([file, metadata]).length },
  );
  for (let number = 0; small.length > 0; number++) {
    const group = small.splice(0, countFitting(small, weightPerCall));
    if (group.length > 1) for (const { index } of group) groups[index] = number;
  }
  return groups;
}

export async function checkInput<Context>(route: FileRoute<Context>, given: unknown): Promise<unknown> {
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

export function toMetadata(returned: unknown): Metadata | null {
  if (returned === undefined || returned === null) return null;
  if (typeof returned !== "object" || Array.isArray(returned)) {
    throw new TypeError("middleware must return an object, or nothing.");
  }
  return JSON.parse(JSON.stringify(returned));
}

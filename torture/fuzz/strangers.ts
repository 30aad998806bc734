import type { createClient, FuzzAnswer } from "./client.ts";
import type { Operation } from "./operations.ts";
import type { Actor } from "./tenants.ts";

interface Strangers {
  client: ReturnType<typeof createClient>;
  operations: Operation[];
  actors: Actor[];
}

type Ids = Record<"id" | "fileId" | "key" | "uploadId", string>;

const unknown: Ids = {
  id: "01zzzzzzzzzzzzzzzzzzzzzzzz",
  fileId: "01zzzzzzzzzzzzzzzzzzzzzzzz",
  key: "01zzzzzzzzzzzzzzzzzzzzzzzz/default/x/y",
  uploadId: "01zzzzzzzzzzzzzzzzzzzzzzzz",
};

/** A stranger must not be able to tell another's ids from ids that do not exist, on any call that takes one. */
export async function compareStrangers({ client, operations, actors }: Strangers) {
  const violations: string[] = [];
  let pairs = 0;
  for (const operation of operations) {
    // What a stranger hears of ids that do not exist is the same for all owners.
    const unknownTo = new Map<Actor, FuzzAnswer>();
    for (const owner of actors) {
      const ids = idsOf(operation, owner);
      for (const stranger of actors.filter((actor) => !mayKnow(operation, actor, owner))) {
        for (const field of fieldsOf(operation)) {
          const seen = await ask(client, operation, stranger, { ...unknown, [field]: ids[field] });
          const expected = unknownTo.get(stranger) ?? (await ask(client, operation, stranger, unknown));
          unknownTo.set(stranger, expected);
          pairs++;
          if (seen.status === expected.status && same(seen, expected, ids)) continue;
          violations.push(
            `${operation.name}: ${stranger.name} can tell ${field} of ${owner.name} from an unknown one: ` +
              `${seen.status} ${seen.text.slice(0, 300)} instead of ${expected.status} ${expected.text.slice(0, 300)}`,
          );
        }
      }
    }
  }
  return { pairs, violations };
}

/** Projects belong to the account, routes and keys to the project, all else to one environment of it. */
function mayKnow({ path }: Operation, actor: Actor, owner: Actor): boolean {
  if (/\/(projects|routers|keys)\b/.test(path)) return actor.accountId === owner.accountId;
  return actor === owner;
}

function idsOf({ path }: Operation, owner: Actor): Ids {
  const file = owner.files[0];
  const byPath = path.includes("/routers/")
    ? owner.routers[0]
    : path.includes("/keys/")
      ? owner.keys[0]
      : path.includes("/deliveries")
        ? owner.deliveries[0]
        : owner.projectId;
  return {
    id: byPath ?? unknown.id,
    fileId: file?.fileId ?? unknown.fileId,
    key: file?.key ?? unknown.key,
    uploadId: file?.uploadId ?? unknown.uploadId,
  };
}

/** Which ids a call takes, in its path or in its body. */
function fieldsOf({ path, body }: Operation): (keyof Ids)[] {
  const inBody = Object.keys(body?.properties ?? {});
  const fields = new Set<keyof Ids>();
  for (const field of ["id", "fileId", "key", "uploadId"] as const) {
    if (path.includes(`{${field}}`) || inBody.includes(field)) fields.add(field);
  }
  if (inBody.includes("keys")) fields.add("key");
  if (inBody.includes("ids")) fields.add("id");
  return [...fields];
}

function ask(
  client: Strangers["client"],
  { method, path, body }: Operation,
  stranger: Actor,
  ids: Ids,
): Promise<FuzzAnswer> {
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: keyof Ids) => encodeURIComponent(ids[name]));
  const query = path.endsWith("/multipart/{fileId}") ? `?uploadId=${ids.uploadId}` : "";
  const fields: Record<string, unknown> = {
    fileId: ids.fileId,
    uploadId: ids.uploadId,
    key: ids.key,
    keys: [ids.key],
    ids: [ids.id],
    parts: [{ partNumber: 1, etag: "x" }],
    partNumbers: [1],
    metadata: {},
    width: 1,
    slug: "strange",
    name: "strange",
  };
  const sent = Object.fromEntries(
    Object.keys(body?.properties ?? {}).flatMap((name) => (name in fields ? [[name, fields[name]]] : [])),
  );
  return client.send({
    method,
    path: named + query,
    headers: {
      authorization: `Bearer ${stranger.secret}`,
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    body: body === null ? null : JSON.stringify(sent),
  });
}

/** Where an answer repeats the id that was sent, that is no difference. */
function same(seen: FuzzAnswer, expected: FuzzAnswer, ids: Ids): boolean {
  // As JSON writes them, and the longest first: a key begins with the id of its project.
  const known = [...Object.values(ids), ...Object.values(unknown)]
    .map((id) => JSON.stringify(id).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  const strip = (text: string) => known.reduce((rest, id) => rest.replaceAll(id, "…"), text);
  return strip(seen.text) === strip(expected.text);
}

import { type Command, OperatorError } from "../command.ts";
import { connect, getConnection } from "../connection.ts";
import { clean, formatColumns } from "../format.ts";
import { readChoice } from "../option-values.ts";
import { getOwnProject } from "../own-project.ts";

const project = { value: "ID", description: "the key's project; usually detected" };

export const keysLs: Command = {
  name: "keys ls",
  summary: "List the project's API keys, never their secrets",
  options: { project },
  async run(call) {
    const upstow = await connect(call);
    const keys = await upstow.keys.list(await getOwnProject(upstow, call.options.find("project")));
    const rows = keys.map((key) => [
      key.id,
      key.type,
      key.prefix,
      key.lastUsedAt === null ? "never used" : `used ${key.lastUsedAt.slice(0, 16).replace("T", " ")}`,
      clean(key.name ?? ""),
    ]);
    return { json: { keys }, text: formatColumns(rows) };
  },
};

export const keysCreate: Command = {
  name: "keys create",
  summary: "Create an API key of the same type as yours; its secret is shown only once",
  options: {
    name: { value: "N", description: "what the key is for" },
    type: { value: "live|test", description: "rejected unless it is your key's type" },
    project,
  },
  async run(call) {
    const [name, type] = [call.options.find("name"), call.options.find("type")];
    const body = {
      ...(name === undefined ? {} : { name }),
      ...(type === undefined ? {} : { type: readChoice("--type", type, ["live", "test"]) }),
    };
    const ownType = getConnection(call).apiKey.startsWith("svc_test_") ? "test" : "live";
    if (body.type !== undefined && body.type !== ownType) {
      const advice = `Sign in with a ${body.type} key, or create the key in the dashboard.`;
      throw new OperatorError("UNAUTHORIZED", `A ${ownType} key can only create ${ownType} keys. ${advice}`);
    }
    const upstow = await connect(call);
    const projectId = await getOwnProject(upstow, call.options.find("project"));
    const { key, secret } = await upstow.keys.create(projectId, body);
    return {
      json: { key, secret },
      text: `Created ${key.type} key "${key.name}" (${key.id}). Save its secret now; it is never shown again:\n${secret}`,
    };
  },
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "Revoke an API key of the project immediately",
  positionals: [{ name: "id", description: "the key's id, not its secret" }],
  async run(call) {
    const [id = ""] = call.positionals;
    await (await connect(call)).keys.revoke(id);
    return {
      json: { id, revoked: true },
      text: `Revoked key ${id}. Requests with it are now rejected.`,
    };
  },
};

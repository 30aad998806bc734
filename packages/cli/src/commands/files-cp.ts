import type { Command } from "../command.ts";
import { connect, readableUrl } from "../connection.ts";
import { readFrom } from "../download-file.ts";
import { clean, formatBytes } from "../format.ts";

export const filesCp: Command = {
  name: "files cp",
  summary: "Copy a file, including its metadata, to a new key",
  positionals: [{ name: "key", description: "the storage key or id of the file to copy" }],
  options: {
    name: { value: "N", description: "the copy's name (default: the same name)" },
    route: { value: "SLUG", description: "the file route for the copy (default: default)" },
  },
  notes: "The bytes pass through this machine and are never on its disk.",
  async run(call) {
    const upstow = await connect(call);
    const [key = ""] = call.positionals;
    const file = await upstow.files.get(key);
    const copy = await upstow.upload(await readFrom(await readableUrl(upstow, file)), {
      name: call.options.find("name") ?? file.name,
      type: file.type,
      size: file.size,
      routeSlug: call.options.find("route") ?? "default",
      metadata: file.metadata,
      ...(file.access === "private" ? { access: file.access } : {}),
      onProgress: ({ sentBytes }) =>
        call.progress(`${clean(file.name)}  ${formatBytes(sentBytes)} of ${formatBytes(file.size)}`),
    });
    return { json: { file: copy }, text: `Copied to ${copy.key}\n${copy.url}` };
  },
};

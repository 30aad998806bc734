import { text } from "node:stream/consumers";
import type { Call, Command } from "../command.ts";
import { projectOption, withCustomerStorage } from "../customer-storage.ts";

export const storageSet: Command = {
  name: "storage set",
  summary: "Let a project keep its new files in a bucket of its own",
  options: {
    ...projectOption,
    bucket: { value: "B", description: "the bucket's name", isRequired: true },
    "access-key-id": { value: "K", description: "the key's id", isRequired: true },
    "secret-access-key": {
      value: "S",
      description: "its secret; - reads it from standard input",
      isRequired: true,
    },
    endpoint: { value: "URL", description: "the provider's address; Amazon's, of the region, unless given" },
    region: { value: "R", description: "part of every signature; us-east-1 unless given" },
    prefix: { value: "P", description: "in front of every object's name; upstow/ unless given, / for none" },
    "path-style": { description: "the bucket in the path, not in the host name; usual with --endpoint" },
    "host-style": { description: "the bucket in the host name; usual without --endpoint" },
  },
  notes: `The bucket is tried first: an object is written, read, copied and removed below the prefix. The credentials are
kept encrypted and never shown again; run the command anew to replace them. Files that are there already stay where they
are. A secret on the command line stays in the shell's history; "--secret-access-key -" avoids that.`,
  async run(call) {
    const { setStorage } = await import("@upstow/server/projects/customer-storage/customer-storage");
    const { options } = call;
    const [endpoint, region, prefix] = ["endpoint", "region", "prefix"].map((name) => options.find(name));
    const isPathStyle = options.has("path-style") ? true : options.has("host-style") ? false : undefined;
    const input = {
      bucket: options.get("bucket"),
      accessKeyId: options.get("access-key-id"),
      secretAccessKey: await readSecret(call),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(region === undefined ? {} : { region }),
      ...(prefix === undefined ? {} : { prefix }),
      ...(isPathStyle === undefined ? {} : { forcePathStyle: isPathStyle }),
    };
    const projectId = options.get("project");
    const storage = await withCustomerStorage(call, (deps) => setStorage(deps, projectId, input));
    return {
      json: { projectId, ...storage },
      text: `New files of project ${projectId} go to the bucket ${storage.bucket} now.
Next: upstow storage probe --project ${projectId}`,
    };
  },
};

async function readSecret({ options, stdin }: Call): Promise<string> {
  const given = options.get("secret-access-key");
  return given === "-" ? (await text(stdin)).trim() : given;
}

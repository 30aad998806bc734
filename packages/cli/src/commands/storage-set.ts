import { text } from "node:stream/consumers";
import type { Call, Command } from "../command.ts";
import { projectOption, withCustomerStorage } from "../customer-storage.ts";

export const storageSet: Command = {
  name: "storage set",
  summary: "Store a project's new files in its own bucket",
  options: {
    ...projectOption,
    bucket: { value: "B", description: "the bucket's name", isRequired: true },
    "access-key-id": { value: "K", description: "the key's id", isRequired: true },
    "secret-access-key": {
      value: "S",
      description: "its secret; - reads it from standard input",
      isRequired: true,
    },
    endpoint: { value: "URL", description: "the provider's URL (default: Amazon S3 in the region)" },
    region: { value: "R", description: "the region used in signatures (default: us-east-1)" },
    prefix: { value: "P", description: "prefix of every object key; / for none (default: upstow/)" },
    "path-style": { description: "put the bucket in the path (default with --endpoint)" },
    "host-style": { description: "put the bucket in the host name (default without --endpoint)" },
  },
  notes: `The bucket is tested first: an object is written, read, copied and deleted under the prefix. The credentials are
stored encrypted and never shown again; run the command again to replace them. Existing files stay where they
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
      text: `New files of project ${projectId} now go to the bucket ${storage.bucket}.
Next: upstow storage probe --project ${projectId}`,
    };
  },
};

async function readSecret({ options, stdin }: Call): Promise<string> {
  const given = options.get("secret-access-key");
  return given === "-" ? (await text(stdin)).trim() : given;
}

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Call, type Command, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { downloadFile, isDownloaded } from "../download-file.ts";
import { clean, formatBytes } from "../format.ts";
import { givenPath } from "../given-path.ts";
import { savedName } from "../saved-name.ts";

export const filesGet: Command = {
  name: "files get",
  summary: "Download a file and check its bytes",
  positionals: [
    { name: "key", description: "the file's storage key, as `upstow files ls` shows it, or its id" },
  ],
  options: {
    output: { value: "PATH", description: "a file or a folder to write to; its own name here unless given" },
    force: { description: "replace a file that is there already, once the download is whole" },
  },
  notes:
    "Without --force no file is overwritten. A stored name that begins with a dot is never used: choose one with --output.",
  async run(call) {
    const [keyOrId = ""] = call.positionals;
    const output = call.options.find("output");
    if (output === "-") {
      throw new UsageError(
        "--output takes a path, because a file is checked first; ./- is one of that name.",
      );
    }
    const file = await (await connect(call)).files.get(keyOrId);
    const path = await choosePath(call, output, file.name);
    const facts = { path, key: file.key, size: file.size, sha256: file.sha256 };
    const replace = call.options.has("force");
    if (!replace && (await isDownloaded(file, path))) {
      const text = `${clean(path)} is there already, with the same bytes.`;
      return { json: { ...facts, isVerified: true }, text };
    }
    const onProgress = (receivedBytes: number) =>
      call.progress(`${clean(path)}  ${formatBytes(receivedBytes)} of ${formatBytes(file.size)}`);
    const isVerified = await downloadFile(file, path, { replace, onProgress });
    return {
      json: { ...facts, isVerified },
      text: `Wrote ${clean(path)}, ${formatBytes(file.size)}${isVerified ? ", as its SHA-256 says" : ""}.`,
    };
  },
};

/** The stored name may be a path: nothing is written outside this folder unless --output says so. */
async function choosePath(call: Call, output: string | undefined, storedName: string): Promise<string> {
  const path = givenPath(call, output ?? ".");
  const isFolder = output === undefined || (await stat(path).catch(() => null))?.isDirectory() === true;
  return isFolder ? join(path, savedName(storedName)) : path;
}

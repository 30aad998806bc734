import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Call, type Command, OperatorError, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { downloadFile } from "../download-file.ts";
import { clean, formatBytes } from "../format.ts";
import { givenPath } from "../given-path.ts";

export const filesGet: Command = {
  name: "files get",
  summary: "Download a file and check its bytes",
  positionals: [{ name: "key", description: "the file's storage key, as `upstow files ls` shows it" }],
  options: {
    output: { value: "PATH", description: "a file or a folder to write to; its own name here unless given" },
  },
  notes: "A file that is there already is replaced only when the download is whole.",
  async run(call) {
    const [key = ""] = call.positionals;
    const output = call.options.find("output");
    if (output === "-") {
      throw new UsageError(
        "--output takes a path, because a file is checked first; ./- is one of that name.",
      );
    }
    const file = await (await connect(call)).files.get(key);
    const path = await choosePath(call, output, file.name);
    const isVerified = await downloadFile(file, path, (sentBytes) =>
      call.progress(`${clean(path)}  ${formatBytes(sentBytes)} of ${formatBytes(file.size)}`),
    );
    return {
      json: { path, key, size: file.size, sha256: file.sha256, isVerified },
      text: `Wrote ${clean(path)}, ${formatBytes(file.size)}${isVerified ? ", as its SHA-256 says" : ""}.`,
    };
  },
};

// Of one name, on all disks in use.
const longestNameBytes = 255;

/** The stored name may be a path: nothing is written outside this folder unless --output says so. */
async function choosePath(call: Call, output: string | undefined, storedName: string): Promise<string> {
  const path = givenPath(call, output ?? ".");
  const isFolder = output === undefined || (await stat(path).catch(() => null))?.isDirectory() === true;
  if (!isFolder) return path;
  const name = basename(storedName.replaceAll("\\", "/"));
  if (["", ".", ".."].includes(name) || Buffer.byteLength(name) > longestNameBytes) {
    throw new OperatorError("VALIDATION_ERROR", "No file here can have its name. Choose one with --output.");
  }
  return join(path, name);
}

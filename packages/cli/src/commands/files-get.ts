import { basename } from "node:path";
import type { Command } from "../command.ts";
import { connect } from "../connection.ts";
import { downloadFile } from "../download-file.ts";
import { clean, formatBytes } from "../format.ts";

export const filesGet: Command = {
  name: "files get",
  summary: "Download a file and check its bytes",
  positionals: [{ name: "key", description: "the file's storage key, as `upstow files ls` shows it" }],
  options: { output: { value: "PATH", description: "where to write it; its own name here unless given" } },
  notes: "A file that is there already is replaced only when the download is whole.",
  async run(call) {
    const [key = ""] = call.positionals;
    const file = await (await connect(call)).files.get(key);
    // The stored name may be a path: nothing is written outside this folder unless --output says so.
    const path = call.options.find("output") ?? basename(file.name.replaceAll("\\", "/"));
    const isVerified = await downloadFile(file, path, (sentBytes) =>
      call.progress(`${clean(path)}  ${formatBytes(sentBytes)} of ${formatBytes(file.size)}`),
    );
    return {
      json: { path, key, size: file.size, sha256: file.sha256, isVerified },
      text: `Wrote ${clean(path)}, ${formatBytes(file.size)}${isVerified ? ", as its SHA-256 says" : ""}.`,
    };
  },
};

import { type Command, type Options, UsageError } from "../command.ts";
import { connect, getConnection } from "../connection.ts";
import { explainError } from "../explain-error.ts";
import { formatBytes } from "../format.ts";
import { collectFiles } from "../upload/collect-files.ts";
import { createProgressBars } from "../upload/progress-bars.ts";
import { openUnfinishedUploads } from "../upload/unfinished-uploads.ts";
import { uploadFiles } from "../upload/upload-files.ts";

export const upload: Command = {
  name: "upload",
  summary: "Upload files, and folders with everything below them",
  positionals: [{ name: "files", description: "paths of files and folders", isRepeated: true }],
  options: {
    route: { value: "SLUG", description: "the file route that they go to; default unless said otherwise" },
    metadata: { value: "JSON", description: "an object that is stored with every file" },
  },
  notes: `Files over 10 MB go in parts. Stop the command, or lose the network, and the same command goes on with the
parts that are missing, for seven days and while the file stays as it is.
A file of a folder keeps its path from there as its name.`,
  async run(call) {
    const routeSlug = call.options.find("route") ?? "default";
    const metadata = readMetadata(call.options);
    const files = await collectFiles(call.positionals);
    const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const stored: { path: string; key: string; url: string }[] = [];
    const failures: { path: string; code: string; message: string }[] = [];
    await uploadFiles({
      upstow: await connect(call),
      files,
      options: { routeSlug, ...(metadata === undefined ? {} : { metadata }) },
      unfinished: openUnfinishedUploads(call.env, getConnection(call), routeSlug),
      bars: createProgressBars({ files: files.length, bytes }, call.progress),
      onDone({ path }, file) {
        stored.push({ path, ...file });
        call.note(`✔ ${file.name}  ${file.url}`);
      },
      onFailed({ path, name }, error) {
        const { code, message } = explainError(error);
        failures.push({ path, code, message });
        call.note(`✖ ${name}  ${message}`);
      },
    });
    const sentBytes = formatBytes(bytes);
    return {
      json: { files: stored, failures },
      text:
        failures.length === 0
          ? `Uploaded ${stored.length} ${stored.length === 1 ? "file" : "files"}, ${sentBytes}.`
          : `Uploaded ${stored.length} of ${files.length} files. The same command tries the others again.`,
      ok: failures.length === 0,
    };
  },
};

function readMetadata(options: Options): Record<string, unknown> | undefined {
  const text = options.find("metadata");
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The same refusal follows.
  }
  throw new UsageError(`--metadata must be a JSON object such as {"album":7}, not "${text}".`);
}

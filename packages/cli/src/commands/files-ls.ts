import { type Command, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { filterOptions, readFilters } from "../file-filters.ts";
import { formatBytes, formatColumns } from "../format.ts";

export const filesLs: Command = {
  name: "files ls",
  summary: "List files, newest first",
  options: {
    ...filterOptions,
    limit: { value: "N", description: "maximum number of files (default: 50)" },
    all: { description: "every file" },
  },
  async run(call) {
    const most = call.options.has("all") ? Number.POSITIVE_INFINITY : readLimit(call.options.find("limit"));
    const filters = readFilters(call.options);
    const upstow = await connect(call);
    const files = [];
    // A filtered page may contain fewer files than its limit.
    const limit = Object.keys(filters).length > 0 ? 100 : Math.min(100, most);
    for await (const file of upstow.files.list({ ...filters, limit })) {
      files.push(file);
      if (files.length >= most) break;
    }
    const rows = files.map((file) => [
      file.createdAt.slice(0, 16).replace("T", " "),
      file.status.toLowerCase(),
      formatBytes(file.size),
      file.key,
    ]);
    return { json: { files }, text: rows.length === 0 ? "No files." : formatColumns(rows) };
  },
};

function readLimit(text = "50"): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--limit must be a whole number of at least 1, not "${text}".`);
}

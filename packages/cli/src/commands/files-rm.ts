import type { Command } from "../command.ts";
import { connect } from "../connection.ts";
import { formatBytes } from "../format.ts";

const keysAtOnce = 100;

export const filesRm: Command = {
  name: "files rm",
  summary: "Delete files; their URLs stop working at once",
  positionals: [{ name: "keys", description: "storage keys or ids of files", isRepeated: true }],
  async run(call) {
    const upstow = await connect(call);
    const total = {
      deleted: 0,
      failed: 0,
      failures: [] as { key: string; message: string }[],
      reclaimedBytes: 0,
    };
    for (let at = 0; at < call.positionals.length; at += keysAtOnce) {
      const result = await upstow.files.deleteMany(call.positionals.slice(at, at + keysAtOnce));
      total.deleted += result.deleted;
      total.failed += result.failed;
      total.failures.push(...result.failures);
      total.reclaimedBytes += result.reclaimedBytes;
    }
    for (const { key, message } of total.failures) call.note(`✖ ${key}  ${message}`);
    return {
      json: total,
      text: `Deleted ${total.deleted} ${total.deleted === 1 ? "file" : "files"}, ${formatBytes(total.reclaimedBytes)}.`,
      ok: total.failed === 0,
    };
  },
};

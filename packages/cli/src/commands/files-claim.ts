import type { Upstow } from "@upstow/sdk";
import type { Call, Command } from "../command.ts";
import { connect } from "../connection.ts";
import { clean, countFiles } from "../format.ts";
import { inBatches } from "../in-batches.ts";

const keys = { name: "keys", description: "storage keys or ids of files", isRepeated: true };

export const filesClaim: Command = {
  name: "files claim",
  summary: "Keep files that would otherwise be deleted",
  positionals: [keys],
  options: {},
  async run(call) {
    const { count, failures } = await change(call, async (upstow, batch) => {
      const { claimed, failures } = await upstow.files.claim(batch);
      return { count: claimed, failures };
    });
    return {
      json: { claimed: count, failures },
      text: `Claimed ${countFiles(count)}.`,
      ok: failures.length === 0,
    };
  },
};

export const filesRestore: Command = {
  name: "files restore",
  summary: "Restore files from the trash",
  positionals: [keys],
  options: {},
  notes: "`upstow files ls --status deleted` lists the trash.",
  async run(call) {
    const { count, failures } = await change(call, async (upstow, batch) => {
      const { restored, failures } = await upstow.files.restore(batch);
      return { count: restored, failures };
    });
    return {
      json: { restored: count, failures },
      text: `Restored ${countFiles(count)}.`,
      ok: failures.length === 0,
    };
  },
};

interface Changed {
  count: number;
  failures: { key: string; message: string }[];
}

async function change(
  call: Call,
  work: (upstow: Upstow, batch: string[]) => Promise<Changed>,
): Promise<Changed> {
  const upstow = await connect(call);
  const answers = await inBatches(call.positionals, (batch) => work(upstow, batch));
  const failures = answers.flatMap((answer) => answer.failures);
  for (const { key, message } of failures) call.note(`✖ ${clean(key)}  ${message}`);
  return { count: answers.reduce((sum, { count }) => sum + count, 0), failures };
}

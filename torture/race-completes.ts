import { statement } from "../packages/server/src/db/statement.ts";
import { assertCountersMatch } from "../packages/server/test/support/recount.ts";
import { createUploadClient, put, smallBody } from "../packages/server/test/support/upload-client.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";
import { withApp } from "./with-app.ts";

const completesPerFile = 100;

const countEvents = statement((q, p: { fileId: string }) =>
  q
    .selectFrom("webhook_message")
    .select((e) => e.fn.countAll<number>().as("count"))
    .where("file_id", "=", p.fileId),
);

/** A hundred completions of one file at once: one is accepted, one event is written, it counts once. */
export function raceCompletes({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app, database) => {
    const { live, projectId } = await app.createTenant("pro");
    const client = createUploadClient(app, live);
    const violations: string[] = [];
    const tally = createTally(`files on ${database}`, "completions", "accepted", "events");
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const { fileId, uploadUrl } = await client.request();
      await put(uploadUrl, smallBody, "text/plain");
      const all = Array.from({ length: completesPerFile }, () => client.complete(fileId));
      const statuses = (await Promise.all(all)).map(({ status }) => status);
      const accepted = statuses.filter((status) => status === 200).length;
      const refused = statuses.filter((status) => status === 404).length;
      const events = Number((await app.app.deps.db.get(countEvents, { fileId }))?.count);
      if (accepted !== 1 || accepted + refused !== completesPerFile || events !== 1)
        violations.push(`${fileId}: ${accepted} × 200, ${refused} × 404, ${events} events`);
      tally.add(`files on ${database}`, 1);
      tally.add("completions", completesPerFile);
      tally.add("accepted", accepted);
      tally.add("events", events);
      onRound(round, tally.counts);
    }
    await assertCountersMatch(app, projectId, { live: tally.counts["accepted"] ?? 0 }).catch((error) => {
      violations.push(`the counters differ from a recount: ${error.message}`);
    });
    return { counts: tally.counts, violations };
  });
}

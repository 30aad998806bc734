import { setTimeout as wait } from "node:timers/promises";
import { Counter, Gauge, type Registry } from "prom-client";
import { createSeat } from "../../db/job-leases.ts";
import type { Deps } from "../../deps.ts";
import { countDamagedFiles } from "./check-files.ts";

/** Longer than scrapes are apart. */
const seatMs = 90_000;
/** Scrapers give up after ten seconds, and then see nothing at all. */
const patienceMs = 1_000;

/** Counts refused reads, and reports on behalf of all instances how many files the last walk found damaged. */
export function createDamageMetrics(
  registry: Registry,
  { db, log }: Pick<Deps, "db" | "log">,
): Pick<Deps, "onDamagedRead"> {
  const isSpeaker = createSeat(db, "report damaged files", seatMs);
  const measure = async () => ((await isSpeaker()) ? db.get(countDamagedFiles, {}) : null);
  const reads = new Counter({
    name: "upstow_damaged_reads_total",
    help: "Reads refused because the bytes of a confirmed file are missing or changed.",
    registers: [registry],
  });
  new Gauge({
    name: "upstow_damaged_files",
    help: "Files whose bytes the last check of stored files found missing or changed.",
    registers: [registry],
    async collect() {
      const found = await Promise.race([measure().catch(() => null), wait(patienceMs, null, { ref: false })]);
      if (found === null) this.remove();
      else this.set(found.count);
    },
  });
  return {
    onDamagedRead(fileId) {
      reads.inc();
      log.error({ fileId }, "the bytes of a file are missing or changed; see `upstow verify`");
    },
  };
}

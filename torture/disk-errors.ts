import { spawn } from "node:child_process";
import { once } from "node:events";
import { findCommand } from "../scripts/debian-packages.mjs";
import { createLedger } from "./acknowledged.ts";
import { createInstallation } from "./installation.ts";
import { NotPossible } from "./not-possible.ts";
import type { Random } from "./random.ts";
import { recount } from "./recount.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";

const clients = 4;

/** The calls by which bytes become durable, and the ways they fail on real disks. */
const faults = [
  ["fsync", "EIO"],
  ["fdatasync", "EIO"],
  ["fsync", "ENOSPC"],
  ["pwrite64", "ENOSPC"],
  ["pwrite64", "EIO"],
  ["renameat", "EIO"],
  ["renameat2", "EIO"],
  ["rename", "EIO"],
  ["ftruncate", "EIO"],
] as const;

/** Lets system calls of the running server fail, kills it, and holds it to what it had acknowledged. */
export async function breakDisk({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  if (findCommand("strace") === null) throw new NotPossible("strace is not installed");
  const installation = await createInstallation();
  const ledger = createLedger(installation, random);
  const violations: string[] = [];
  const tally = createTally("calls that failed");
  const counts = () => ({ ...tally.counts, ...ledger.counts() });
  try {
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const from = ledger.kept.length;
      const server = await installation.start();
      let isOver = false;
      const working = Promise.all(
        Array.from({ length: clients }, () => ledger.run(() => isOver, violations)),
      );
      tally.add(
        "calls that failed",
        await injectFault(server.pid, random, () => ledger.waitForAttempts(random.int(5, 40))),
      );
      isOver = true;
      await server.kill();
      await working;
      const restarted = await installation.start();
      violations.push(...(await ledger.check(from)));
      await restarted.stop();
      onRound(round, counts());
    }
    const last = await installation.start();
    violations.push(...(await ledger.check(0)));
    await last.stop();
    violations.push(...(await recount(installation)));
    return { counts: counts(), violations };
  } finally {
    await installation.remove();
  }
}

/** Returns how many calls were made to fail. */
async function injectFault(pid: number, random: Random, work: () => Promise<void>): Promise<number> {
  const [call, error] = faults[random.int(0, faults.length - 1)] ?? faults[0];
  const when = `${random.int(1, 12)}+${random.int(3, 12)}`;
  const inject = `inject=?${call}:error=${error}:when=${when}`;
  const strace = spawn("strace", ["-f", "-p", String(pid), "-e", `trace=?${call}`, "-e", inject], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(strace, "exit");
  let output = "";
  strace.stderr.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  await work();
  strace.kill("SIGINT");
  await ended;
  if (!/attached/.test(output))
    throw new NotPossible(`strace cannot watch the server: ${output.slice(0, 200)}`);
  return output.split("(INJECTED)").length - 1;
}

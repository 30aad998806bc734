import { copyFile, mkdir, mkdtemp, rename, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLedger } from "./acknowledged.ts";
import { createInstallation } from "./installation.ts";
import { NotPossible } from "./not-possible.ts";
import { recount } from "./recount.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { runProgram } from "./small-disk.ts";
import { createTally } from "./tally.ts";

const imageBytes = 512 * 1024 * 1024;
const clients = 4;

/**
 * Keeps what had reached the disk at one moment and forgets the rest, as a power cut does: the data lives on a
 * file system in an image file, the image is copied while the server runs, and the server goes on with the copy.
 */
export async function cutPower({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const disk = await createDisk();
  const violations: string[] = [];
  const tally = createTally("file systems recovered");
  const installation = await createInstallation({}, join(disk.mountedAt, "data"));
  try {
    const ledger = createLedger(installation, random);
    const counts = () => ({ ...tally.counts, ...ledger.counts() });
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const from = ledger.kept.length;
      const server = await installation.start();
      let isOver = false;
      const working = Promise.all(
        Array.from({ length: clients }, () => ledger.run(() => isOver, violations)),
      );
      await ledger.waitForAttempts(random.int(2, 60));
      server.pause();
      // Only what was acknowledged before the cut is owed.
      const owed = ledger.kept.length;
      await disk.copy();
      isOver = true;
      await server.kill();
      await working;
      ledger.kept.length = owed;
      await disk.goOnWithCopy();
      tally.add("file systems recovered");
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
    await disk.remove();
  }
}

async function createDisk() {
  const folder = await mkdtemp(join(tmpdir(), "upstow-power-"));
  const [image, copied, mountedAt] = [join(folder, "disk"), join(folder, "copy"), join(folder, "mounted")];
  await mkdir(mountedAt);
  const mount = () => runProgram("mount", ["-o", "loop", image, mountedAt]);
  try {
    await writeFile(image, "");
    await truncate(image, imageBytes);
    await runProgram("mke2fs", ["-q", "-t", "ext4", image]);
    await mount();
  } catch (error) {
    await rm(folder, { recursive: true });
    throw new NotPossible(`a disk image cannot be mounted: ${String(error).split("\n")[0]}`);
  }
  return {
    mountedAt,
    copy: () => copyFile(image, copied),
    /** Mounting replays the journal, as the machine does when it starts again. */
    async goOnWithCopy() {
      await runProgram("umount", [mountedAt]);
      await rename(copied, image);
      await mount();
    },
    async remove() {
      await runProgram("umount", [mountedAt]);
      await rm(folder, { recursive: true });
    },
  };
}

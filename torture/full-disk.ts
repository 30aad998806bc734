import { randomBytes } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { put } from "../packages/server/test/support/storage/contract-client.ts";
import { openTestStore } from "../packages/server/test/support/storage/open-disk-store.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { mountSmallDisk } from "./small-disk.ts";
import { createTally } from "./tally.ts";

const diskBytes = 8 * 1024 * 1024;
const bodyBytes = 2 * 1024 * 1024;
const contentType = "application/octet-stream";

/** The disk is full after another number of bytes each time: 507, nothing left behind, and it goes on when there is room. */
export async function fillDisk({ rounds, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  await using disk = await mountSmallDisk(diskBytes);
  const root = join(disk.directory, "objects");
  await using opened = await openTestStore("sqlite", { root, minFreeBytes: Number.NEGATIVE_INFINITY });
  const { store, listFiles } = opened;
  const violations: string[] = [];
  const tally = createTally("responses with 507", "files left behind", "stored once there was space");

  const send = async (key: string) => {
    const url = await store.presignPut({ key, contentType, sizeBytes: bodyBytes, expiresInSec: 60 });
    return (await put(url, randomBytes(bodyBytes), { "content-type": contentType })).status;
  };

  for (let round = 1; round <= rounds && !isTimeUp(); round++) {
    // From the first byte of the body to its last.
    const offset = Math.floor((bodyBytes * (round - 1)) / rounds);
    const key = `full/${round}`;
    const ballast = join(disk.directory, "ballast");
    await fill(ballast, diskBytes - offset);
    const status = await send(key);
    const left = await listFiles();
    await rm(ballast);
    if (status === 507) tally.add("responses with 507");
    else violations.push(`with ${offset} bytes of room: ${status}`);
    if (left.length > 0 || (await store.findReceived(key)) !== null) {
      tally.add("files left behind", left.length);
      violations.push(`with ${offset} bytes of room: ${left.join(", ")} is left behind`);
    }
    const again = await send(key);
    if (again === 200) tally.add("stored once there was space");
    else violations.push(`with room again: ${again}`);
    await store.delete([key]);
    onRound(round, tally.counts);
  }
  return { counts: tally.counts, violations };
}

/** Takes what there is, but for what the body shall still find. */
async function fill(path: string, sizeBytes: number): Promise<void> {
  await using file = await open(path, "w");
  const block = Buffer.alloc(64 * 1024);
  try {
    for (let at = 0; at < sizeBytes; at += block.length)
      await file.write(block, 0, Math.min(block.length, sizeBytes - at));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

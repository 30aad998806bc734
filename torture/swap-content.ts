import { hash } from "node:crypto";
import { PART_SIZE_BYTES } from "@upstow/contract";
import type { TestApp } from "../packages/server/test/support/start-app.ts";
import { createUploadClient, put, type UploadClient } from "../packages/server/test/support/upload-client.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally, type Tally } from "./tally.ts";
import { withApp } from "./with-app.ts";

const type = "text/plain";
const attempts = 6;

interface Victim {
  key: string;
  /** What the completion said. */
  sha256: string | null;
  size: number;
  urls: string[];
  complete(): Promise<{ status: number }>;
}

/** Sends other bytes to every URL there ever was, while a file is completed and afterwards: it never changes. */
export function swapContent({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app, database) => {
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const violations: string[] = [];
    const tally = createTally(`files on ${database}`, "attempts", "rejected with 403", "hashes changed");
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const isParts = random.chance(0.02);
      const victim = isParts ? await completeParts(client) : await completeUnderFire(client, random);
      violations.push(...(await attack(app, victim, random, tally)));
      tally.add(`files on ${database}`);
      onRound(round, tally.counts);
    }
    return { counts: tally.counts, violations };
  });
}

async function attack(app: TestApp, victim: Victim, random: Random, tally: Tally): Promise<string[]> {
  const violations: string[] = [];
  const before = await readHash(app, victim);
  if (victim.sha256 !== null && victim.sha256 !== before)
    violations.push(`${victim.key} is served with other bytes than it was completed with`);
  for (let i = 0; i < attempts; i++) {
    const url = victim.urls[random.int(0, victim.urls.length - 1)] ?? "";
    const { status } = await put(url, Buffer.alloc(victim.size, `swap ${i}`), type);
    tally.add("attempts");
    if (status === 403) tally.add("rejected with 403");
    else violations.push(`a PUT after completion was answered with ${status}`);
  }
  if ((await victim.complete()).status !== 404) violations.push(`${victim.key} was completed twice`);
  if ((await readHash(app, victim)) !== before) {
    tally.add("hashes changed");
    violations.push(`the bytes of ${victim.key} were changed`);
  }
  return violations;
}

/** PUTs of different bodies run while the completion does; which one it takes is open, that it stays is not. */
async function completeUnderFire(client: UploadClient, random: Random): Promise<Victim> {
  const size = random.int(10, 100_000);
  const { fileId, key, uploadUrl } = await client.request({ fileSize: size });
  await put(uploadUrl, Buffer.alloc(size, "first"), type);
  const fire = Array.from({ length: 3 }, (_, i) => put(uploadUrl, Buffer.alloc(size, `other ${i}`), type));
  const complete = () => client.complete(fileId);
  const completing = complete();
  await Promise.all(fire);
  const { body } = await completing;
  return { key, sha256: body.file?.sha256 ?? "none", size, urls: [uploadUrl], complete };
}

async function completeParts(client: UploadClient): Promise<Victim> {
  const size = 1_000;
  const upload = await client.init({ fileSize: 2 * PART_SIZE_BYTES + size });
  const parts: { partNumber: number; etag: string }[] = [];
  for (const { partNumber, uploadUrl } of upload.parts) {
    const bytes = Buffer.alloc(partNumber === 3 ? size : PART_SIZE_BYTES, partNumber);
    const { headers } = await put(uploadUrl, bytes, "application/octet-stream");
    parts.push({ partNumber, etag: headers.get("etag") ?? "" });
  }
  const complete = () => client.completeParts(upload, parts);
  await complete();
  return {
    key: upload.key,
    sha256: null,
    size,
    urls: upload.parts.map(({ uploadUrl }) => uploadUrl),
    complete,
  };
}

async function readHash(app: TestApp, { key }: Victim): Promise<string> {
  const answer = await fetch(`${app.url}/f/${key}`);
  return hash("sha256", Buffer.from(await answer.arrayBuffer()));
}

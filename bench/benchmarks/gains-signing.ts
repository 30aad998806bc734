import { globSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as sigv4 from "../../packages/server/src/storage/s3/sigv4.ts";

export interface Signing {
  urlsPerSec: number;
  cpuUsPerUrl: number;
}

const urlsPerTurn = 20_000;
const host = "bucket.s3.eu-central-1.amazonaws.com";

/** Signs URLs for uploads to a bucket, by turns with the sources of each root; a root's turns in the order given. */
export async function signByTurns(roots: readonly string[], rounds: number): Promise<Signing[][]> {
  const signers = await Promise.all(roots.map(loadSigner));
  const turns: Signing[][] = roots.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, signer] of signers.entries()) {
      const signed = signMany(signer);
      // The first time through warms up.
      if (round > 0) turns[i]?.push(signed);
    }
  }
  return turns;
}

async function loadSigner(root: string): Promise<sigv4.Signer> {
  // Earlier versions have it in another folder.
  const [path = ""] = globSync("packages/server/src/**/sigv4.ts", { cwd: root });
  const { createSigner } = (await import(pathToFileURL(join(root, path)).href)) as typeof sigv4;
  return createSigner({
    accessKeyId: "AKIAEXAMPLE",
    secretAccessKey: "a secret of the usual forty characters .",
    region: "eu-central-1",
    now: Date.now,
  });
}

function signMany(signer: sigv4.Signer): Signing {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  for (let i = 0; i < urlsPerTurn; i++) {
    signer.presign({
      method: "PUT",
      origin: `https://${host}`,
      path: `/01hzy3v7k2w9f4m8q6t5r1x0ab-${i}/photo.png`,
      headers: { host, "content-type": "image/png", "content-length": String(i) },
      expiresInSec: 3_600,
    });
  }
  const elapsedSec = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { urlsPerSec: urlsPerTurn / elapsedSec, cpuUsPerUrl: (user + system) / urlsPerTurn };
}

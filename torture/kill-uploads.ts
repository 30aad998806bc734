import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { onBothDatabases } from "./both-databases.ts";
import { createInstallation, type Installation } from "./installation.ts";
import { createKilledWork } from "./killed-work.ts";
import type { Random } from "./random.ts";
import { listUploaded, recount } from "./recount.ts";
import { type Outcome, type RunOptions, runClients } from "./scenario.ts";
import { createUploader, type Upload } from "./uploads.ts";

const clients = 6;
const roundsPerRecount = 20;
/** Downloads at the end; every file's row, checksum and blob are looked at anyhow. */
const mostDownloads = 2_000;
const mostViolations = 20;

/** Kills the server in the middle of uploads, again and again, and checks that nothing it acknowledged is lost. */
export const killUploads = onBothDatabases("kills", killUploadsOn);

async function killUploadsOn(
  { rounds, random, isTimeUp, onRound }: RunOptions,
  database: DatabaseKind,
): Promise<Outcome> {
  const installation = await createInstallation({}, undefined, database);
  const run = createRun(installation, random);
  try {
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      if (run.violations.length >= mostViolations) break;
      await run.killDuringUploads();
      if (round % roundsPerRecount === 0) run.violations.push(...(await recount(installation)));
      onRound(round, run.count());
    }
    await run.finishAll();
    return { counts: run.count(), violations: run.violations };
  } finally {
    await installation.remove();
  }
}

function createRun(installation: Installation, random: Random) {
  let answers = 0;
  const uploader = createUploader(installation, random, () => {
    answers++;
  });
  const violations: string[] = [];
  /** Everything the server has given an id. */
  const uploads: Upload[] = [];
  let downloads = 0;

  async function openOne(): Promise<Upload> {
    const upload = await (random.chance(0.02) ? uploader.openMultipart() : uploader.openSingle());
    uploads.push(upload);
    return upload;
  }

  async function downloadOne(): Promise<void> {
    const upload = uploads[random.int(0, Math.max(0, uploads.length - 1))];
    if (upload === undefined || !upload.isCompleted) return;
    await uploader.download(upload);
    downloads++;
  }

  const work = createKilledWork({
    ...{ installation, random, clients, violations },
    answers: () => answers,
    open: openOne,
    finish: uploader.finish,
    async between() {
      if (random.chance(0.1)) await downloadOne();
    },
  });

  async function finishAll(): Promise<void> {
    const server = await installation.start();
    await inTurns(work.resumeAll(), (some) => runClients(server, some, violations));
    const inParts = uploads.filter(({ uploadId }) => uploadId !== null);
    const sample = new Set([...inParts, ...uploads.slice(-mostDownloads)]);
    const checks = [
      ...uploads.map((upload) => () => uploader.check(upload)),
      ...[...sample].map((upload) => async () => {
        await uploader.download(upload);
        downloads++;
      }),
    ];
    await inTurns(checks, (some) => runClients(server, some, violations));
    await server.stop();
    violations.push(...(await recount(installation)), ...(await compareWithRows()));
  }

  async function compareWithRows(): Promise<string[]> {
    const rows = await listUploaded(installation);
    const known = new Set(uploads.map(({ fileId }) => fileId));
    const stuck = uploads.filter(({ fileId }) => !rows.has(fileId));
    const unknown = [...rows].filter((id) => !known.has(id));
    return [
      ...stuck.map(({ fileId }) => `${fileId} could not be finished`),
      ...unknown.map((id) => `${id} counts as uploaded, but nobody completed it`),
    ];
  }

  const count = () => ({
    "uploads acknowledged": uploads.length,
    "of them multipart": uploads.filter(({ uploadId }) => uploadId !== null).length,
    "PUTs acknowledged": uploads.reduce((sum, { pieces }) => sum + pieces.filter((p) => p.etag).length, 0),
    "completions acknowledged": uploads.filter(({ isAcknowledged }) => isAcknowledged).length,
    "completed, response lost": uploads.filter((u) => u.isCompleted && !u.isAcknowledged).length,
    "resumed after a kill": work.resumed(),
    "downloads compared": downloads,
  });

  return { violations, killDuringUploads: work.runRound, finishAll, count };
}

async function inTurns<T>(work: T[], run: (some: T[]) => Promise<void>): Promise<void> {
  for (let at = 0; at < work.length; at += clients) await run(work.slice(at, at + clients));
}

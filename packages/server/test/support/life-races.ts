import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deleteEndedFiles } from "../../src/files/delete-files.ts";
import { purgeTrash } from "../../src/files/trash.ts";
import { assertCountersMatch } from "./recount.ts";
import type { Tenant, TestApp } from "./start-app.ts";
import { put, smallBody, type UploadClient, type UploadedFile } from "./upload-client.ts";

const atOnce = 16;
const perBatch = 100;

export interface Racers {
  app: TestApp;
  tenant: Tenant;
  client: UploadClient;
}

/** What a kind of race is called, and how many of its files each side won. */
export type Wins = Record<string, number>;

/** The project in which files race: a route that wants claims, and a trash. The clock has to stand still. */
export async function prepareRaces({ app, tenant }: Racers): Promise<void> {
  const { live: key, projectId } = tenant;
  const route = { slug: "form", claimWithin: 60 };
  const made = await app.call("POST", `projects/${projectId}/routers`, { key, body: route });
  assert.equal(made.status, 201);
  const changed = await app.call("PATCH", `projects/${projectId}`, { key, body: { trashDays: 1 } });
  assert.equal(changed.status, 200);
}

async function uploadMany({ client }: Racers, count: number, fields: object): Promise<UploadedFile[]> {
  const item = {
    fileName: "a.txt",
    fileSize: smallBody.length,
    contentType: "text/plain",
    routeSlug: "default",
    ...fields,
  };
  const uploaded: UploadedFile[] = [];
  while (uploaded.length < count) {
    const files = Array(Math.min(perBatch, count - uploaded.length)).fill(item);
    const { uploads } = (await client.post("upload/batch/request", { files })).body;
    await each(uploads, ({ uploadUrl }: { uploadUrl: string }) => put(uploadUrl, smallBody));
    const ids = uploads.map(({ fileId }: { fileId: string }) => ({ fileId }));
    const done = await client.post("upload/batch/complete", { files: ids });
    assert.equal(done.status, 200, JSON.stringify(done.body));
    uploaded.push(...done.body.files.map(({ file }: { file: UploadedFile }) => file));
  }
  return uploaded;
}

async function each<Item, Result>(items: Item[], work: (item: Item, i: number) => Promise<Result>) {
  const results: Result[] = [];
  const turns = items.entries();
  const take = async () => {
    for (const [i, item] of turns) results[i] = await work(item, i);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  return results;
}

/** Runs a job again and again beside calls for all files; the moment comes in the middle of them. */
async function race<Result>(
  { app }: Racers,
  files: UploadedFile[],
  work: (file: UploadedFile, hasPassed: boolean) => Promise<Result>,
  job: () => Promise<number>,
): Promise<Result[]> {
  let isOver = false;
  let hasPassed = false;
  const working = (async () => {
    while (!isOver) {
      await job();
      // Reads of the embedded database leave no turn to others.
      await nextTurn();
    }
  })();
  const results = await each(files, async (file, i) => {
    if (i === Math.floor(files.length / 2)) {
      app.clock.advance(1);
      hasPassed = true;
    }
    return work(file, hasPassed);
  });
  isOver = true;
  await working;
  await job();
  return results;
}

const statusOf = async (url: string) => {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
};

/** Claims against the job that deletes what is not claimed in time. */
export async function raceClaims(racers: Racers, count: number): Promise<Wins> {
  const { app, client } = racers;
  const files = await uploadMany(racers, count, { routeSlug: "form" });
  app.clock.advance(59_999);
  const statuses = await race(
    racers,
    files,
    async ({ key }) => (await client.claim([key])).status,
    () => deleteEndedFiles(app.app.deps),
  );
  const seen = await each(files, ({ url }) => statusOf(url));
  assert.deepEqual(seen, statuses, "what was claimed is there, and nothing else");
  await client.purge(files.map(({ id }) => id).slice(0, perBatch));
  return { claimed: statuses.filter((status) => status === 200).length };
}

/** Restorations against the end of the trash, and against those who purge. */
export async function raceRestorations(racers: Racers, count: number): Promise<Wins> {
  const { app, client } = racers;
  const files = await uploadMany(racers, count, {});
  for (let at = 0; at < count; at += perBatch)
    await client.removeAll(files.slice(at, at + perBatch).map(({ id }) => id));
  app.clock.advance(24 * 3_600_000 - 1);
  // Every fourth is purged by hand too, which ends it whether it was restored or not.
  const isPurged = files.map((_, i) => i % 4 === 0);
  const statuses = await race(
    racers,
    files,
    async (file) => {
      const purging = isPurged[files.indexOf(file)] ? client.purge([file.id]) : null;
      const [restored] = await Promise.all([client.restore([file.key]), purging]);
      return restored.status;
    },
    () => purgeTrash(app.app.deps),
  );
  const seen = await each(files, ({ url }) => statusOf(url));
  const expected = statuses.map((status, i) => (isPurged[i] ? 404 : status));
  assert.deepEqual(seen, expected, "what was restored is there, and nothing else");
  return { restored: statuses.filter((status) => status === 200).length };
}

/** Reads and changes against the end of a file. */
export async function raceExpiries(racers: Racers, count: number): Promise<Wins> {
  const { app, client } = racers;
  const files = await uploadMany(racers, count, { expiresIn: 60 });
  app.clock.advance(59_999);
  const outcomes = await race(
    racers,
    files,
    async ({ key, url }, hasPassed) => {
      const [kept, response] = await Promise.all([client.patch(key, { expiresAt: null }), fetch(url)]);
      const bytes = Buffer.from(await response.arrayBuffer());
      const isWhole = response.status === 200 && bytes.equals(smallBody);
      const isTrue = isWhole || response.status === 404;
      return { status: kept.status, isTrue: isTrue && !(hasPassed && kept.status === 404 && isWhole) };
    },
    () => deleteEndedFiles(app.app.deps),
  );
  assert.ok(outcomes.every(({ isTrue }) => isTrue));
  const seen = await each(files, ({ url }) => statusOf(url));
  assert.deepEqual(
    seen,
    outcomes.map(({ status }) => status),
    "what was kept is there, and nothing else",
  );
  return { kept: outcomes.filter(({ status }) => status === 200).length };
}

export async function assertRacesCounted({ app, tenant }: Racers, uploads: number): Promise<void> {
  await assertCountersMatch(app, tenant.projectId, { live: uploads });
}

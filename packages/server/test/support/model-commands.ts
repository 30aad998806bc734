import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { type Environment, MB } from "@upstow/contract";
import fc from "fast-check";
import { reapAbandonedUploads } from "../../src/files/uploads/reaper.ts";
import {
  assertListed,
  isShown,
  type Model,
  type ModelFile,
  type Real,
  type StoreKind,
} from "./model-world.ts";
import type { Answer } from "./start-app.ts";
import { put } from "./upload-client.ts";

type Command = fc.AsyncCommand<Model, Real>;

const minuteMs = 60_000;
const singleUrlMs = 15 * minuteMs;
const partUrlMs = 60 * minuteMs;
const graceMs = 5 * minuteMs;
const dayMs = 24 * 60 * minuteMs;
const bigPiece = Buffer.alloc(10 * MB, "upstow ");
const multipartBytes = bigPiece.length + 1;
/** All but the last have to be as large in a bucket. */
const smallestBucketPart = 5 * MB;

function step(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    async run(model, real) {
      real.steps++;
      await run(model, real);
    },
    toString: () => name,
  };
}

/** A step on one of the files there are, whatever has become of it. */
function stepOnFile(
  name: string,
  pick: number,
  run: (file: ModelFile, model: Model, real: Real) => Promise<void>,
): Command {
  const find = (model: Model) => model.files[pick % model.files.length];
  return {
    check: (model) => model.files.length > 0,
    async run(model, real) {
      const file = find(model);
      assert.ok(file);
      real.steps++;
      await run(file, model, real);
    },
    toString: () => `${name} of file ${pick}`,
  };
}

/** Once an upload has ended, a bucket still takes what was signed before; it must not be seen anywhere. */
const isNotJudged = (file: ModelFile, real: Real) => real.store === "s3" && !isOpen(file);

const isOpen = (file: ModelFile) => file.status === "UPLOADING";
const idleMs = (file: ModelFile) => (file.uploadId === null ? dayMs : 7 * dayMs);
const nowOf = (real: Real) => real.world.app.clock.now();

function addFile(
  model: Model,
  file: Pick<
    ModelFile,
    "environment" | "id" | "key" | "sizeBytes" | "metadata" | "urls" | "uploadId" | "emptyUntil"
  >,
) {
  model.files.push({
    ...file,
    status: "UPLOADING",
    body: null,
    parts: new Map(),
    isOverfull: false,
    lastActivity: null,
  });
}

const request = (environment: Environment, sizeBytes: number, metadata: Record<string, unknown>) =>
  step(`request ${sizeBytes} B in ${environment}`, async (model, real) => {
    const now = nowOf(real);
    const { fileId, key, uploadUrl } = await real
      .client(environment)
      .request({ fileSize: sizeBytes, metadata: metadata });
    const urls = new Map([[0, { address: uploadUrl, expiresAt: now + singleUrlMs }]]);
    const emptyUntil = now + singleUrlMs + graceMs;
    addFile(model, { environment, id: fileId, key, sizeBytes, metadata, urls, uploadId: null, emptyUntil });
  });

const init = (environment: Environment) =>
  step(`init in ${environment}`, async (model, real) => {
    const now = nowOf(real);
    const upload = await real.client(environment).init({ fileSize: multipartBytes });
    const expiresAt = now + partUrlMs;
    const urls = new Map(
      upload.parts.map((part) => [part.partNumber, { address: part.uploadUrl, expiresAt }]),
    );
    const { fileId: id, key, uploadId } = upload;
    const emptyUntil = expiresAt + graceMs;
    addFile(model, {
      environment,
      id,
      key,
      sizeBytes: multipartBytes,
      metadata: {},
      urls,
      uploadId,
      emptyUntil,
    });
  });

type Fault = "none" | "longer" | "shorter" | "other type" | "cut off";

const putBody = (pick: number, fill: number, fault: Fault) =>
  stepOnFile(`PUT (${fault})`, pick, async (file, _model, real) => {
    const url = file.urls.get(0);
    if (url === undefined) return;
    const body = Buffer.alloc(file.sizeBytes, fill);
    const isUsable = isOpen(file) && nowOf(real) < url.expiresAt;
    if (fault === "cut off") return isUsable ? putCutOff(file, url.address, body, real) : undefined;
    const wrongSize = { longer: 1, shorter: -1 }[fault as string] ?? 0;
    const sent = wrongSize === 0 ? body : Buffer.alloc(body.length + wrongSize);
    const answer = await put(url.address, sent, fault === "other type" ? "text/html" : "text/plain");
    if (isNotJudged(file, real)) return;
    const isTaken = isUsable && fault === "none";
    assert.equal(answer.status, isTaken ? 200 : 403);
    if (!isTaken) return;
    file.body = body;
    file.lastActivity = nowOf(real);
  });

/** Announces the whole body, sends less and goes away; the server has noticed when this resolves. */
async function putCutOff(file: ModelFile, address: string, body: Buffer, real: Real): Promise<void> {
  const isArriving = () => real.world.app.app.deps.store.arrivals?.isArriving(file.key) ?? false;
  const sending = httpRequest(address, {
    method: "PUT",
    agent: false,
    headers: { "content-type": "text/plain", "content-length": body.length },
  });
  sending.on("error", () => {});
  sending.write(body.subarray(0, body.length - 1));
  while (!isArriving()) await new Promise((resolve) => setTimeout(resolve, 2));
  sending.destroy();
  while (isArriving()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const putPart = (pick: number, partNumber: number, sizeBytes: number, fill: number) =>
  stepOnFile(`PUT part ${partNumber} with ${sizeBytes} B`, pick, async (file, _model, real) => {
    const url = file.urls.get(partNumber);
    if (url === undefined || file.uploadId === null) return;
    const bytes = sizeBytes === bigPiece.length ? bigPiece : Buffer.alloc(sizeBytes, fill);
    const answer = await put(url.address, bytes, "application/octet-stream");
    if (isNotJudged(file, real)) return;
    if (file.isOverfull) {
      assert.equal(answer.status, 404);
      return;
    }
    const others = receivedBytes(file) - (file.parts.get(partNumber)?.bytes.length ?? 0);
    // A bucket notices only when the parts are put together.
    const fits = real.store === "s3" || others + sizeBytes <= file.sizeBytes;
    const isTaken = isOpen(file) && nowOf(real) < url.expiresAt && fits;
    assert.equal(answer.status, isTaken ? 200 : 403);
    if (!isTaken) return;
    file.parts.set(partNumber, { bytes, etag: answer.headers.get("etag") ?? "" });
    file.lastActivity = nowOf(real);
  });

function claimsOf(file: ModelFile) {
  const parts = [...file.parts].sort(([a], [b]) => a - b);
  return parts.map(([partNumber, { etag }]) => ({ partNumber, etag }));
}

const sendComplete = (file: ModelFile, real: Real, metadata?: Record<string, unknown>) => {
  const client = real.client(file.environment);
  if (file.uploadId === null) return client.complete(file.id, metadata);
  return client.completeParts({ fileId: file.id, uploadId: file.uploadId }, claimsOf(file), metadata);
};

const receivedBytes = ({ parts }: ModelFile) =>
  [...parts.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);

/** After an attempt to complete it. */
function noteOverfull(file: ModelFile, { store }: Real): void {
  if (store === "s3" && isOpen(file) && receivedBytes(file) > file.sizeBytes) file.isOverfull = true;
}

/** What a completion of everything received has to answer. */
function completionStatus(file: ModelFile, { store }: Real): number {
  if (file.uploadId !== null && file.parts.size === 0) return 400;
  if (!isOpen(file)) return 404;
  if (file.uploadId === null) return file.body === null ? 422 : 200;
  const sizes = [...file.parts].sort(([a], [b]) => a - b).map(([, part]) => part.bytes.length);
  const isWhole = receivedBytes(file) === file.sizeBytes;
  const isTakenTogether = store === "disk" || sizes.slice(0, -1).every((size) => size >= smallestBucketPart);
  if (!isWhole) return 422;
  return isTakenTogether ? 200 : 400;
}

function confirm(file: ModelFile, model: Model, metadata: Record<string, unknown> | undefined) {
  file.status = "UPLOADED";
  if (metadata !== undefined) file.metadata = metadata;
  model.uploads[file.environment]++;
}

const complete = (pick: number, metadata: Record<string, unknown> | undefined) =>
  stepOnFile("complete", pick, async (file, model, real) => {
    const expected = completionStatus(file, real);
    const answer = await sendComplete(file, real, metadata);
    assert.equal(answer.status, expected, JSON.stringify(answer.body));
    if (expected === 200) confirm(file, model, metadata);
    noteOverfull(file, real);
  });

const completeWrongly = (pick: number) =>
  stepOnFile("complete wrongly", pick, async (file, _model, real) => {
    const client = real.client(file.environment);
    if (file.uploadId === null) {
      const other = real.client(file.environment === "live" ? "test" : "live");
      assert.equal((await other.complete(file.id)).status, 404);
      return;
    }
    // The right call for its parts is another one.
    assert.equal((await client.complete(file.id)).status, isOpen(file) ? 422 : 404);
    const claims = claimsOf(file).map((claim) => ({ ...claim, etag: "wrong" }));
    const answer = await client.completeParts({ fileId: file.id, uploadId: file.uploadId }, claims);
    assert.equal(answer.status, claims.length === 0 ? 400 : isOpen(file) ? 422 : 404);
    noteOverfull(file, real);
  });

const abort = (pick: number) =>
  stepOnFile("abort", pick, async (file, _model, real) => {
    const ref = { fileId: file.id, uploadId: file.uploadId ?? "none" };
    const answer = await real.client(file.environment).abort(ref);
    const isDone = isOpen(file) && file.uploadId !== null;
    assert.equal(answer.status, isDone ? 200 : 404);
    if (isDone) file.status = "REMOVED";
  });

const remove = (pick: number) =>
  stepOnFile("delete", pick, async (file, _model, real) => {
    const answer = await real.client(file.environment).remove(file.key);
    assert.equal(answer.status, isShown(file) ? 200 : 404);
    if (isShown(file)) file.status = "DELETED";
  });

const removeMany = (environment: Environment, picks: number[]) =>
  step(`delete in bulk in ${environment}`, async (model, real) => {
    const files = picks.flatMap((pick) => model.files[pick % Math.max(1, model.files.length)] ?? []);
    const keys = new Set([...files.map((file) => file.key), "none"]);
    const gone = new Set(files.filter((file) => file.environment === environment && isShown(file)));
    let reclaimed = 0;
    for (const file of gone) if (file.status === "UPLOADED") reclaimed += file.sizeBytes;
    const { status, body } = await real.client(environment).removeAll([...keys, ...keys]);
    assert.equal(status, gone.size === 0 ? 404 : 207);
    assert.deepEqual([body.deleted, body.failed], [gone.size, keys.size - gone.size]);
    assert.equal(body.reclaimedBytes, reclaimed);
    for (const file of gone) file.status = "DELETED";
  });

const patch = (pick: number, metadata: Record<string, unknown>) =>
  stepOnFile("patch", pick, async (file, _model, real) => {
    const answer = await real.client(file.environment).patch(file.key, { metadata });
    assert.equal(answer.status, isShown(file) ? 200 : 404);
    if (isShown(file)) file.metadata = metadata;
  });

const sign = (pick: number, partNumbers: number[]) =>
  stepOnFile("sign", pick, async (file, _model, real) => {
    const ref = { fileId: file.id, uploadId: file.uploadId ?? "none" };
    const answer = await real.client(file.environment).sign(ref, partNumbers);
    const isDone = isOpen(file) && file.uploadId !== null;
    assert.equal(answer.status, isDone ? 200 : 404);
    if (!isDone) return;
    const now = nowOf(real);
    for (const { partNumber, uploadUrl } of answer.body.parts)
      file.urls.set(partNumber, { address: uploadUrl, expiresAt: now + partUrlMs });
    if (file.lastActivity === null) file.emptyUntil = Math.max(file.emptyUntil, now + partUrlMs + graceMs);
    else file.lastActivity = now;
  });

const listParts = (pick: number) =>
  stepOnFile("list parts", pick, async (file, _model, real) => {
    const ref = { fileId: file.id, uploadId: file.uploadId ?? "none" };
    const answer = await real.client(file.environment).listParts(ref);
    const isThere = isOpen(file) && file.uploadId !== null && !file.isOverfull;
    assert.equal(answer.status, isThere ? 200 : 404);
    if (!isThere) return;
    const listed = answer.body.parts.map((part: { partNumber: number; size: number }) => [
      part.partNumber,
      part.size,
    ]);
    const parts = [...file.parts].sort(([a], [b]) => a - b);
    assert.deepEqual(
      listed,
      parts.map(([number, { bytes }]) => [number, bytes.length]),
    );
  });

const list = (environment: Environment) =>
  step(`list ${environment}`, async (model, real) => {
    const shown = model.files.filter((file) => file.environment === environment && isShown(file));
    await assertListed(real.client(environment), shown);
  });

const passTime = (minutes: number) =>
  step(`${minutes} minutes pass, the reaper comes`, async (model, real) => {
    real.world.app.clock.advance(minutes * minuteMs);
    await reapAbandonedUploads(real.world.app.app.deps);
    const now = nowOf(real);
    for (const file of model.files.filter(isOpen)) {
      const openUntil = file.lastActivity === null ? file.emptyUntil : file.lastActivity + idleMs(file);
      if (openUntil <= now) file.status = "FAILED";
    }
  });

const restart = () => step("restart", async (_model, real) => real.world.restart());

/** Everybody wants to end the same upload: what counts is what they were told. */
const race = (pick: number) =>
  stepOnFile("race to end", pick, async (file, model, real) => {
    const expected = completionStatus(file, real);
    const client = real.client(file.environment);
    const ref = { fileId: file.id, uploadId: file.uploadId ?? "none" };
    const wasShown = isShown(file);
    const end = () => (file.uploadId === null ? client.remove(file.key) : client.abort(ref));
    const completes = [sendComplete(file, real), sendComplete(file, real)];
    const [first, second, ended] = (await Promise.all([...completes, end()])) as [Answer, Answer, Answer];
    const confirmed = [first, second].filter((answer) => answer.status === 200).length;
    assert.ok(confirmed <= (expected === 200 ? 1 : 0), `${confirmed} confirmed`);
    for (const { status } of [first, second])
      assert.ok([200, 404, expected].includes(status), String(status));
    if (confirmed === 1) confirm(file, model, undefined);
    if (file.uploadId === null) {
      assert.equal(ended.status, wasShown ? 200 : 404);
      if (wasShown) file.status = "DELETED";
      return;
    }
    if (ended.status === 200) file.status = "REMOVED";
    noteOverfull(file, real);
    assert.ok(confirmed + (ended.status === 200 ? 1 : 0) <= 1, "one winner");
  });

export function allCommands(store: StoreKind = "disk"): fc.Arbitrary<Command>[] {
  const pick = fc.nat({ max: 20 });
  const environment = fc.constantFrom<Environment>("live", "live", "test");
  const metadata = fc
    .dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 })
    // As it comes back: JSON knows neither -0 nor prototypes.
    .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));
  const fill = fc.integer({ min: 1, max: 255 });
  const faults = ["none", "none", "none", "none", "longer", "shorter", "other type"] as const;
  const fault = fc.constantFrom<Fault>(...faults, ...(store === "disk" ? (["cut off"] as const) : []));
  const partNumber = fc.integer({ min: 1, max: 3 });
  const partBytes = fc.constantFrom(1, 1, bigPiece.length, 1000);
  return [
    fc.tuple(environment, fc.integer({ min: 2, max: 64 }), metadata).map((args) => request(...args)),
    environment.map(init),
    fc.tuple(pick, fill, fault).map((args) => putBody(...args)),
    fc.tuple(pick, fill, fault).map((args) => putBody(...args)),
    fc.tuple(pick, partNumber, partBytes, fill).map((args) => putPart(...args)),
    fc.tuple(pick, partNumber, partBytes, fill).map((args) => putPart(...args)),
    fc.tuple(pick, fc.option(metadata, { nil: undefined })).map((args) => complete(...args)),
    fc.tuple(pick, fc.option(metadata, { nil: undefined })).map((args) => complete(...args)),
    pick.map(completeWrongly),
    pick.map(abort),
    pick.map(remove),
    fc.tuple(environment, fc.array(pick, { maxLength: 4 })).map((args) => removeMany(...args)),
    fc.tuple(pick, metadata).map((args) => patch(...args)),
    fc.tuple(pick, fc.uniqueArray(partNumber, { minLength: 1, maxLength: 3 })).map((args) => sign(...args)),
    pick.map(listParts),
    environment.map(list),
    ...(store === "disk" ? [fc.constantFrom(1, 7, 15, 20, 60, 65, 24 * 60, 7 * 24 * 60).map(passTime)] : []),
    fc.constant(null).map(restart),
    pick.map(race),
  ];
}

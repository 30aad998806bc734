import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUploader, UploadError, UpstowError } from "../src/client/index.ts";
import { hashOf, hashStored } from "./support/hash-stored.ts";
import { startApplication, type TestRouter, until } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";
import {
  bytes,
  createMemoryStore,
  hashOfBytes,
  large,
  partCount,
  small,
  useApplication,
} from "./support/uploader-bed.ts";

describe("the uploader, outside of a browser", () => {
  const { application, create, listOpen, storage } = useApplication();

  it("uploads small and large files and brings the callback's result", async () => {
    const [first, second] = await create({ verify: true }).upload("any", [small(), large()]);
    assert.equal(first?.result.by, "ann");
    assert.match(String(first?.result.at), /^\d{4}-/);
    assert.deepEqual([first?.isVerified, second?.isVerified], [true, true]);
    assert.equal(await hashStored(second?.url ?? ""), hashOfBytes);
    assert.equal(storage().puts.length, 1 + partCount);
  });

  it("asks once for many files, and sends no more bodies at once than it may", async () => {
    storage().allow(0);
    const uploader = create({ concurrency: 4 });
    const files = Array.from({ length: 12 }, (_, i) => small(`${i}.txt`, 100 + i));
    const done = uploader.upload("any", files);
    await until(() => storage().puts.length === 4);
    await until(
      () => uploader.getSnapshot().uploads.filter((upload) => upload.status === "uploading").length === 4,
    );
    assert.equal(storage().puts.length, 4);
    storage().allow(Number.POSITIVE_INFINITY);
    assert.equal((await done).length, 12);
    assert.equal(application().site.actions.filter((action) => action === "begin").length, 1);
  });

  it("keeps to three bodies over all parts of all files", async () => {
    storage().allow(0);
    const uploader = create();
    const done = uploader.upload("any", [large("a.bin"), large("b.bin")]);
    await until(() => uploader.getSnapshot().uploads.every((upload) => upload.status === "uploading"));
    await until(() => storage().puts.length === 3);
    storage().allow(Number.POSITIVE_INFINITY);
    await done;
    assert.equal(storage().puts.length, 2 * partCount);
  });

  it("shows every change in a snapshot that stays the same in between", async () => {
    const uploader = create();
    const statuses: string[] = [];
    uploader.subscribe(() => {
      const [upload] = uploader.getSnapshot().uploads;
      if (upload !== undefined && statuses.at(-1) !== upload.status) statuses.push(upload.status);
    });
    await uploader.upload("any", small());
    assert.deepEqual(statuses, ["queued", "preparing", "uploading", "completing", "done"]);
    const snapshot = uploader.getSnapshot();
    assert.equal(uploader.getSnapshot(), snapshot);
    assert.deepEqual([snapshot.progress, snapshot.sentBytes, snapshot.totalBytes], [1, 1000, 1000]);
    uploader.clear();
    assert.equal(uploader.getSnapshot().uploads.length, 0);
  });

  it("fails with the backend's own words, and only the files of that call", async () => {
    const uploader = create();
    const [wrong] = uploader.add("album", small(), { input: { album: 5 } });
    const [right] = uploader.add("any", small());
    await assert.rejects(wrong?.done ?? Promise.resolve(), (error) => {
      assert.ok(error instanceof UpstowError);
      assert.deepEqual([error.code, error.status], ["INVALID_FILE_TYPE", 400]);
      return true;
    });
    assert.equal((await right?.done)?.name, "small.txt");
  });

  it("refuses a file alone, and stores those beside it", async () => {
    const picture = new File(["a picture"], "picture.png", { type: "image/png" });
    const [wrong, right] = create().add("album", [small(), picture], { input: { album: 5 } });
    await assert.rejects(wrong?.done ?? Promise.resolve(), {
      code: "INVALID_FILE_TYPE",
      status: 400,
      suggestion: "Accepted: image/*.",
    });
    assert.equal((await right?.done)?.result, 5);
  });

  it("names what is stored and what is not where a call of several fails in part", async () => {
    const picture = (name: string) => new File([name], name, { type: "image/png" });
    const files = [picture("a.png"), small(), picture("b.png")];
    const error = await create()
      .upload("album", files, { input: { album: 5 } })
      .catch((failure: unknown) => failure);
    assert.ok(error instanceof UploadError && error instanceof UpstowError);
    assert.deepEqual(
      error.files.map(({ name, result }) => [name, result]),
      [
        ["a.png", 5],
        ["b.png", 5],
      ],
    );
    assert.equal((await fetch(error.files[1]?.url ?? "")).status, 200);
    assert.deepEqual(
      error.failures.map(({ file, error: cause }) => [file, (cause as UpstowError).code]),
      [[files[1], "INVALID_FILE_TYPE"]],
    );
    assert.deepEqual(
      [error.code, error.status, error.suggestion],
      ["INVALID_FILE_TYPE", 400, "Accepted: image/*."],
    );
    assert.equal(
      error.message,
      '1 of 3 files were not uploaded. "small.txt" is text/plain, which is not accepted here.',
    );
    const headers = () => {
      throw new RangeError("No session.");
    };
    await assert.rejects(create({ headers }).upload("any", small()), {
      name: "UploadError",
      code: "UPLOAD_FAILED",
      message: "No session.",
    });
  });

  it("finishes on a line that is cut every fifth time", async () => {
    storage().cutsPut = (number) => number % 5 === 1;
    const [file] = await create().upload("any", large());
    assert.equal(await hashStored(file?.url ?? ""), hashOfBytes);
    assert.ok(storage().puts.filter((put) => put.status === null).length >= 1);
  });

  it("sends nothing while paused, and then only what is missing", async () => {
    const uploader = create();
    storage().allow(1);
    const [task] = uploader.add("any", large());
    await until(() => storage().puts.filter((put) => put.status === 200).length === 1);
    await until(() => (task?.getState().sentBytes ?? 0) >= 5 * MB);
    await until(() => storage().puts.length === partCount);
    task?.pause();
    assert.equal(task?.getState().status, "paused");
    storage().dropHeld();
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(storage().puts.length, partCount);
    task?.resume();
    assert.equal(await hashStored((await task?.done)?.url ?? ""), hashOfBytes);
    assert.equal(storage().puts.length, partCount + partCount - 1);
  });

  it("pauses and resumes in one breath", async () => {
    const uploader = create();
    const [task] = uploader.add("any", large());
    for (let i = 0; i < 20; i++) {
      task?.pause();
      task?.resume();
      await new Promise((resolve) => setTimeout(resolve, i));
    }
    assert.equal(await hashStored((await task?.done)?.url ?? ""), hashOfBytes);
  });

  it("leaves nothing behind when it is cancelled, at whatever moment", async () => {
    const uploader = create({ resumeStore: createMemoryStore() });
    storage().allow(1);
    const tasks = uploader.add("any", large());
    await until(() => storage().puts.length === 4);
    tasks.push(...uploader.add("any", [small("one.txt"), small("two.txt")]));
    await until(() => tasks.every((task) => task.getState().status === "uploading"));
    await uploader.cancel();
    for (const task of tasks) await assert.rejects(task.done, { code: "CANCELLED" });
    storage().allow(Number.POSITIVE_INFINITY);
    for (const delayMs of [0, 1, 5, 20, 60]) {
      const [task] = uploader.add("any", large());
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await task?.cancel();
    }
    const stop = new AbortController();
    const stopped = uploader.upload("any", large(), { signal: stop.signal });
    stop.abort();
    await assert.rejects(stopped, { code: "CANCELLED" });
    assert.deepEqual(await listOpen(), []);
    assert.deepEqual(await uploader.listResumable(), []);
  });

  it("cancels a file that waits for its turn at once, and the others go on", async () => {
    storage().allow(0);
    const uploader = create();
    const [first] = uploader.add("any", large());
    await until(() => storage().puts.length === 3);
    const [second] = uploader.add("any", small("waiting.txt"));
    await until(() => second?.getState().status === "uploading");
    await second?.cancel();
    assert.deepEqual(await listOpen(), ["large.bin"]);
    storage().allow(Number.POSITIVE_INFINITY);
    assert.equal(await hashStored((await first?.done)?.url ?? ""), hashOfBytes);
    assert.equal(storage().puts.length, partCount);
  });

  it("does not go on with another file that only looks the same", async () => {
    const resumeStore = createMemoryStore();
    storage().cutsPut = (number) => number > 3;
    await assert.rejects(
      create({ retries: 0, keepOnFailure: true, concurrency: 1, resumeStore }).upload("any", large()),
    );
    storage().puts.length = 0;
    storage().cutsPut = () => false;
    const changed = Buffer.from(bytes);
    changed.fill(1, 6 * MB, 7 * MB);
    const file = new File([changed], "large.bin", { lastModified: 5 });
    const [stored] = await create({ resumeStore, verify: true }).upload("any", file);
    assert.equal(storage().puts.length, partCount - 2);
    assert.equal(await hashStored(stored?.url ?? ""), hashOf(changed));
  });

  it("renews URLs that have expired, in both flows", async () => {
    storage().allow(0);
    const uploader = create();
    const done = uploader.upload("any", [large(), small()]);
    await until(() => storage().puts.length === 3);
    application().service.app.clock.advance(2 * 60 * 60 * 1000);
    storage().allow(Number.POSITIVE_INFINITY);
    const [first] = await done;
    assert.equal(await hashStored(first?.url ?? ""), hashOfBytes);
    assert.ok(storage().puts.some((put) => put.status === 403));
    assert.equal(application().site.actions.filter((action) => action === "sign").length, 1);
  });

  it("stores the same file twice when it is added twice", async () => {
    const [first, second] = await create({ resumeStore: createMemoryStore() }).upload("any", [
      large(),
      large(),
    ]);
    assert.notEqual(first?.id, second?.id);
  });

  it("goes on with a failed file that is added again", async () => {
    const uploader = create({
      retries: 0,
      keepOnFailure: true,
      concurrency: 1,
      resumeStore: createMemoryStore(),
    });
    storage().cutsPut = (number) => number > 3;
    await assert.rejects(uploader.upload("any", large()));
    storage().cutsPut = () => false;
    storage().puts.length = 0;
    await uploader.upload("any", large());
    assert.equal(storage().puts.length, partCount - 3);
  });

  it("is stored once when two tabs go on with it, whichever is first", async () => {
    const resumeStore = createMemoryStore();
    storage().allow(2);
    const first = create({ resumeStore }).upload("any", large());
    await until(
      () =>
        storage().puts.length === partCount &&
        storage().puts.filter((put) => put.status === 200).length === 2,
    );
    const second = create({ resumeStore }).upload("any", large());
    await until(() => storage().puts.length === 2 * partCount - 2);
    // What the first tab has on the way comes in; what the second one has comes too late.
    storage().allow(partCount - 2);
    const [stored] = await first;
    storage().allow(Number.POSITIVE_INFINITY);
    assert.equal((await second)[0]?.id, stored?.id);
    assert.equal(await hashStored(stored?.url ?? ""), hashOfBytes);
    assert.equal(storage().puts.filter((put) => put.status === 403).length, partCount - 2);
  });

  it("names more files than one call can hold in several", async () => {
    const files = Array.from({ length: 501 }, (_, i) => new File(["x"], `${i}.txt`, { type: "text/plain" }));
    const tasks = create().add("album", files, { input: { album: 1 } });
    const ends = await Promise.allSettled(tasks.map((task) => task.done));
    assert.ok(ends.every((end) => end.status === "rejected" && end.reason.code === "INVALID_FILE_TYPE"));
    assert.deepEqual(application().site.actions, ["begin", "begin"]);
  });

  it("tells what the routes take", async () => {
    const routes = await create().getRoutes();
    assert.deepEqual(routes["album"], { allowedTypes: ["image/*"], maxFileSize: null, maxFileCount: null });
  });

  it("says so where its endpoint answers, but is no route handler", async () => {
    const fetch = async () => Response.json({ status: "fine" });
    await assert.rejects(createUploader({ endpoint: "http://app/health", fetch }).getRoutes(), {
      code: "UNEXPECTED_ANSWER",
      message: "The response from http://app/health is not from an Upstow route handler.",
    });
  });
});

it("waits out the service's rate limit: a long queue arrives whole", async () => {
  const application = await startApplication({ rateWindowMs: 6_000 });
  try {
    const statuses: number[] = [];
    const uploader = createUploader<TestRouter>({
      endpoint: application.site.endpoint,
      fetch: async (...args) => {
        const response = await fetch(...args);
        statuses.push(response.status);
        return response;
      },
      concurrency: 20,
      retries: 0,
    });
    // The service's time stands still while a window is full, however slow the machine is.
    const { app, apiKey } = application.service;
    app.clock.setTime(Date.now());
    const use = () => app.call("POST", "upload/complete", { key: apiKey, body: { fileId: "nothing" } });
    await Promise.all(Array.from({ length: 30 }, use));
    const files = Array.from({ length: 20 }, (_, i) => small(`${i}.txt`, i + 1));
    let isOver = false;
    const uploading = uploader.upload("any", files).finally(() => {
      isOver = true;
    });
    const refusals = () => statuses.filter((status) => status === 429).length;
    for (let seen = 0; !isOver; ) {
      await until(() => isOver || refusals() > seen);
      seen = refusals();
      app.clock.advance(6_000);
    }
    const stored = await uploading;
    assert.equal(stored.length, 20);
    assert.ok(statuses.includes(429));
  } finally {
    await application.close();
  }
});

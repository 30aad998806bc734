import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reapAbandonedUploads } from "../../server/src/files/uploads/reaper.ts";
import { createUploader } from "../src/client/index.ts";
import { createFileRouter, createRouteHandler, UpstowError } from "../src/server.ts";
import { hashStored } from "./support/hash-stored.ts";
import { until } from "./support/start-application.ts";
import {
  createMemoryStore,
  fakeNetwork,
  hashOfBytes,
  large,
  partCount,
  small,
  useApplication,
} from "./support/uploader-bed.ts";

describe("an upload that fails or is given up, outside of a browser", () => {
  const { application, create, listOpen, storage, upstow } = useApplication();

  it("comes to its end, and to the other listeners, whatever a listener throws", async (t) => {
    const thrown: string[] = [];
    // The runner's own would fail the test.
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => thrown.push(error.message));
    t.after(() => {
      process.removeAllListeners("uncaughtException");
      for (const other of others) process.on("uncaughtException", other);
    });
    const uploader = create();
    const statuses = new Set<string | undefined>();
    const onProgress = () => {
      throw new Error("a bug of the page");
    };
    const uploading = uploader.upload("any", small(), { onProgress });
    uploader.subscribe(() => statuses.add(uploader.getSnapshot().uploads[0]?.status));
    assert.equal((await uploading)[0]?.name, "small.txt");
    assert.ok(statuses.has("done"));
    assert.ok(thrown.length >= 3 && thrown.every((message) => message === "a bug of the page"));
  });

  it("asks for its headers before every attempt, once there is a network", async (t) => {
    const setOnline = fakeNetwork(t);
    setOnline(false);
    let token = "first";
    const seen: (string | null)[] = [];
    const uploader = create({
      headers: () => ({ authorization: token }),
      fetch: async (...args: Parameters<typeof fetch>) => {
        if (args[0] !== application().site.endpoint) return fetch(...args);
        seen.push(new Headers(args[1]?.headers).get("authorization"));
        if (seen.length > 1) return fetch(...args);
        token = "third";
        return new Response("Bad gateway", { status: 502 });
      },
    });
    const uploading = uploader.upload("any", small());
    await new Promise((resolve) => setTimeout(resolve, 50));
    token = "second";
    setOnline(true);
    await uploading;
    assert.deepEqual(seen.slice(0, 2), ["second", "third"]);
  });

  it("is over at once when it is cancelled without a network, and removes what it sent later", async (t) => {
    const setOnline = fakeNetwork(t);
    storage().allow(1);
    const uploader = create();
    const stop = new AbortController();
    const { signal } = stop;
    const begun = uploader.upload("any", large(), { signal });
    await until(() => storage().puts.some((put) => put.status === 200));
    setOnline(false);
    const fresh = uploader.upload("any", small(), { signal });
    await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    for (const upload of [begun, fresh]) await assert.rejects(upload, { code: "CANCELLED" });
    assert.deepEqual(await listOpen(), ["large.bin"]);
    storage().allow(Number.POSITIVE_INFINITY);
    setOnline(true);
    await until(async () => (await listOpen()).length === 0);

    setOnline(false);
    const [task] = create().add("any", small());
    const cancelling = task?.cancel();
    await assert.rejects(task?.done ?? Promise.resolve(), { code: "CANCELLED" });
    setOnline(true);
    await cancelling;
  });

  it("gives up a part after its retries, aborts, and can try again", async () => {
    const uploader = create({ retries: 1, resumeStore: createMemoryStore() });
    storage().cutsPut = () => true;
    const [task] = uploader.add("any", large());
    await assert.rejects(task?.done ?? Promise.resolve(), { code: "NETWORK_ERROR" });
    assert.equal(task?.getState().status, "failed");
    assert.deepEqual([await listOpen(), await uploader.listResumable()], [[], []]);
    assert.equal(application().site.actions.at(-1), "abort");
    storage().cutsPut = () => false;
    task?.retry();
    assert.equal(await hashStored((await task?.done)?.url ?? ""), hashOfBytes);
  });

  describe("where only the completion fails", () => {
    const failed = (status: number, code: string) => async () =>
      Response.json({ error: { type: "api_error", code, message: "No." } }, { status });
    /** Fails completions in the given way until it is told not to. */
    function createFailing(fail: (...args: Parameters<typeof fetch>) => Promise<Response>) {
      const network = { isFailing: true };
      const uploader = create({
        retries: 1,
        resumeStore: createMemoryStore(),
        fetch: (...args: Parameters<typeof fetch>) =>
          network.isFailing && String(args[1]?.body).includes('"complete"') ? fail(...args) : fetch(...args),
      });
      return { uploader, network };
    }

    const passing: Record<string, (...args: Parameters<typeof fetch>) => Promise<Response>> = {
      NETWORK_ERROR: () => Promise.reject(new TypeError("down")),
      UNEXPECTED_ANSWER: async () => new Response("Bad gateway", { status: 502 }),
      // The file is stored by then.
      CALLBACK_FAILED: async (...args) => {
        await fetch(...args);
        return failed(500, "CALLBACK_FAILED")();
      },
    };
    for (const [code, fail] of Object.entries(passing)) {
      it(`keeps what was sent, and another try asks for that alone: ${code}`, async () => {
        const { uploader, network } = createFailing(fail);
        const tasks = uploader.add("any", [large(`${code}.bin`), small(`${code}.txt`)]);
        for (const task of tasks) await assert.rejects(task.done, { code });
        assert.equal((await uploader.listResumable()).length, 1);
        network.isFailing = false;
        application().site.actions.length = 0;
        uploader.retry();
        const [first] = await Promise.all(tasks.map((task) => task.done));
        assert.equal(await hashStored(first?.url ?? ""), hashOfBytes);
        assert.deepEqual(application().site.actions, ["complete", "complete"]);
        assert.equal(storage().puts.length, partCount + 1);
        const { files } = await upstow().files.list();
        assert.equal(files.filter((file) => file.name.startsWith(code)).length, 2);
        assert.deepEqual(await uploader.listResumable(), []);
      });
    }

    it("removes what was sent when it is refused for good, or cancelled then", async () => {
      const refused = createFailing(failed(403, "FORBIDDEN")).uploader;
      await assert.rejects(refused.upload("any", large()), { code: "FORBIDDEN" });
      assert.deepEqual([await listOpen(), await refused.listResumable()], [[], []]);
      const { uploader } = createFailing(failed(503, "SERVICE_UNAVAILABLE"));
      await assert.rejects(uploader.upload("any", large()), { code: "SERVICE_UNAVAILABLE" });
      assert.deepEqual(await listOpen(), ["large.bin"]);
      await uploader.cancel();
      assert.deepEqual([await listOpen(), await uploader.listResumable()], [[], []]);
    });
  });

  it("may be told to try again from the very moment that it failed or was cancelled", async () => {
    storage().cutsPut = () => true;
    const uploader = create({ retries: 0, resumeStore: createMemoryStore() });
    const [task] = uploader.add("any", large());
    const failed = task?.done;
    const unsubscribe = uploader.subscribe(() => {
      if (task?.getState().status !== "failed") return;
      unsubscribe();
      storage().cutsPut = () => false;
      task.retry();
    });
    await assert.rejects(failed ?? Promise.resolve(), { code: "NETWORK_ERROR" });
    await until(() => task?.getState().status === "uploading");
    const cancelling = task?.cancel();
    task?.retry();
    await cancelling;
    assert.equal(await hashStored((await task?.done)?.url ?? ""), hashOfBytes);
    assert.deepEqual(await listOpen(), []);
  });

  it("keeps a failed upload where that is wanted, and a later uploader sends the rest", async () => {
    const resumeStore = createMemoryStore();
    storage().cutsPut = (number) => number > 3;
    const first = create({ retries: 0, keepOnFailure: true, concurrency: 1, resumeStore });
    await assert.rejects(first.upload("any", large()));
    assert.deepEqual(
      (await first.listResumable()).map((upload) => upload.name),
      ["large.bin"],
    );

    storage().puts.length = 0;
    storage().cutsPut = () => false;
    const later = create({ resumeStore, verify: true });
    const [task] = later.add("any", large());
    const file = await task?.done;
    assert.equal(await hashStored(file?.url ?? ""), hashOfBytes);
    assert.equal(storage().puts.length, partCount - 3);
    assert.deepEqual([file?.isVerified, task?.getState().isResumed], [true, true]);
    assert.equal(resumeStore.kept.size, 0);
  });

  it("starts over where the service gave it up during a pause, and its permission ran out", async (t) => {
    const hourMs = 60 * 60 * 1000;
    for (const pausedHours of [2, 10 * 24]) {
      storage().puts.length = 0;
      storage().allow(0);
      const uploader = create({ resumeStore: createMemoryStore() });
      // The last one has its permission, and waits for its turn.
      const files = [large(), small("one.txt"), small("two.txt"), small("three.txt")];
      const [first, ...others] = uploader.add("any", files);
      const isUploading = ({ status }: { status: string }) => status === "uploading";
      await until(() => uploader.getSnapshot().uploads.filter(isUploading).length === 3);
      await until(() => storage().puts.length === 3);
      uploader.pause();
      storage().dropHeld();
      t.mock.timers.enable({ apis: ["Date"], now: Date.now() + pausedHours * hourMs });
      await reapAbandonedUploads(application().service.app.app.deps);
      assert.deepEqual(await listOpen(), []);
      storage().allow(Number.POSITIVE_INFINITY);
      uploader.resume();
      assert.equal(await hashStored((await first?.done)?.url ?? ""), hashOfBytes);
      for (const other of others) assert.equal((await other.done).size, 1000);
      t.mock.timers.reset();
    }
  });

  it("tells once of an upload that is given up, and never of what the browser tries again", async () => {
    const { service } = application();
    const heard: string[] = [];
    let callsWithoutService = 0;
    const f = createFileRouter();
    const onUploadError = ({ error }: { error: Error }) => void heard.push(error.message);
    const refuse = () => {
      throw new UpstowError("Taken.", { code: "TAKEN", status: 409 });
    };
    const answer = createRouteHandler({
      router: {
        any: f({ onUploadError }),
        lost: f({ routeSlug: "nothing", onUploadError }),
        taken: f({ onUploadComplete: refuse, onUploadError }),
      },
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      onError: () => {},
      fetch: async (...args) =>
        callsWithoutService-- > 0 ? new Response("Away", { status: 503 }) : fetch(...args),
    });
    const endpoint = "http://site.example/api/upload";
    const uploader = createUploader({
      endpoint,
      retryDelayMs: 1,
      fetch: (url, init) => (url === endpoint ? answer(new Request(url, init)) : fetch(url, init)),
    });
    const file = new File(["hello"], "hello.txt", { type: "text/plain" });
    // The handler's own three calls for the browser's first one, and one more.
    callsWithoutService = 4;
    await uploader.upload("any", file);
    assert.deepEqual([callsWithoutService < 0, heard], [true, []]);
    await assert.rejects(uploader.upload("lost", file), { code: "NOT_FOUND" });
    assert.equal(heard.length, 1);
    await assert.rejects(uploader.upload("taken", file), { code: "TAKEN" });
    assert.deepEqual(heard.splice(0).slice(1), ["The browser abandoned the upload: Taken."]);

    service.storage.allow(0);
    const [paused] = uploader.add("any", file);
    await until(() => paused?.getState().status === "uploading");
    paused?.pause();
    service.storage.dropHeld();
    service.storage.allow(Number.POSITIVE_INFINITY);
    service.app.clock.advance(60 * 60 * 1000);
    await reapAbandonedUploads(service.app.app.deps);
    paused?.resume();
    assert.equal((await paused?.done)?.name, file.name);
    assert.deepEqual(heard, ["The browser abandoned the upload: This upload has ended."]);
  });

  it("asks again for what was not allowed, where failed uploads are kept", async () => {
    let isDown = true;
    const uploader = create({
      retries: 0,
      keepOnFailure: true,
      fetch: async (...args: Parameters<typeof fetch>) => {
        if (isDown) throw new TypeError("down");
        return fetch(...args);
      },
    });
    const [task] = uploader.add("any", small());
    await assert.rejects(task?.done ?? Promise.resolve(), { code: "NETWORK_ERROR" });
    isDown = false;
    task?.retry();
    assert.equal((await task?.done)?.name, "small.txt");
  });
});

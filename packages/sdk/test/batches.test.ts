import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUploader } from "../src/client/index.ts";
import type { BeginAnswer, ManyAnswer, StartAnswer } from "../src/handler/protocol.ts";
import { createUpstow } from "../src/index.ts";
import { createFileRouter, createRouteHandler, type FileRouter } from "../src/server.ts";
import { until } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";
import { small, useApplication } from "./support/uploader-bed.ts";

const endpoint = "http://site.example/api/upload";
const handful = (count: number, name = "f") =>
  Array.from({ length: count }, (_, i) => small(`${name}${i}.txt`, 100 + i));

describe("small files in batches, outside of a browser", () => {
  const { application, create, listOpen, storage, upstow } = useApplication();
  const actions = () => application().site.actions;
  const uploadCalls = () =>
    storage()
      .calls.map((call) => call.replace("POST /api/v1/upload/", ""))
      .filter((call) => !call.includes("/api/"));

  async function countStored(prefix: string): Promise<number> {
    let count = 0;
    for await (const { name } of upstow().files.list({ limit: 100 })) if (name.startsWith(prefix)) count++;
    return count;
  }

  /** A handler of its own, reached without a network that could be disturbed by chance. */
  function createOwn(router: FileRouter<unknown>, lose: (body: string) => boolean = () => false) {
    const { service } = application();
    const handle = createRouteHandler({
      router,
      apiKey: service.apiKey,
      baseUrl: service.storage.url,
      onError: () => {},
    });
    return createUploader({
      endpoint,
      retryDelayMs: 10,
      fetch: async (url, init) => {
        if (url !== endpoint) return fetch(url, init);
        const answer = await handle(new Request(url, init));
        if (lose(String(init?.body))) throw new TypeError("the answer was lost");
        return answer;
      },
    });
  }

  /** Completions are gathered for a while at a time, so a slow machine makes a few calls more. */
  function expectCalls(most: number, startedAt: number, gatheredMs = 2_000): void {
    const longer = Math.floor((performance.now() - startedAt) / gatheredMs);
    assert.ok(uploadCalls().length <= most + longer, uploadCalls().join(" "));
  }

  it("cost one call to open and one or two to complete", async () => {
    const startedAt = performance.now();
    const stored = await create().upload("any", handful(24));
    assert.deepEqual(
      stored.map(({ size }) => size),
      handful(24).map(({ size }) => size),
    );
    assert.deepEqual(actions().slice(0, 2), ["begin", "startMany"]);
    assert.equal(uploadCalls()[0], "batch/request");
    expectCalls(3, startedAt);
  });

  it("ask for no more URLs than are used soon", async () => {
    storage().allow(0);
    const uploader = create();
    const tasks = uploader.add(
      "any",
      Array.from({ length: 8 }, (_, i) => small(`big${i}.txt`, 9 * MB)),
    );
    await until(() => storage().puts.length === 3);
    // Seven of 9 MB make 63 MB.
    assert.equal((await listOpen()).filter((name) => name.startsWith("big")).length, 7);
    storage().allow(Number.POSITIVE_INFINITY);
    for (const { done } of tasks) await done;
  });

  it("are opened once, though the service's answer is lost", async () => {
    let lost = 0;
    storage().losesAnswer = (call) => call.endsWith("batch/request") && lost++ === 0;
    await create().upload("any", handful(6, "once"));
    assert.equal(uploadCalls().filter((call) => call === "batch/request").length, 2);
    assert.equal(await countStored("once"), 6);
  });

  it("are opened once, though the browser does not hear of it", async () => {
    let lost = 0;
    const uploader = createOwn(
      { any: createFileRouter()({}) },
      (body) => body.includes("startMany") && lost++ === 0,
    );
    await uploader.upload("any", handful(6, "twice"));
    assert.equal(lost, 2);
    assert.equal(await countStored("twice"), 6);
  });

  it("are completed once, and called back with isRepeat, where that answer is lost", async () => {
    let lost = 0;
    const heard: [string, boolean][] = [];
    const onUploadComplete = ({ file, isRepeat }: { file: { name: string }; isRepeat: boolean }) => {
      heard.push([file.name, isRepeat]);
      return file.name;
    };
    const uploader = createOwn(
      { any: createFileRouter()({ onUploadComplete }) },
      (body) => body.includes("completeMany") && lost++ === 0,
    );
    const stored = await uploader.upload("any", handful(5, "back"));
    assert.deepEqual(
      stored.map(({ result }) => result),
      handful(5, "back").map(({ name }) => name),
    );
    const named = (wanted: boolean) =>
      heard.filter(([, isRepeat]) => isRepeat === wanted).map(([name]) => name);
    assert.deepEqual(
      named(false).sort(),
      handful(5, "back").map(({ name }) => name),
    );
    assert.ok(named(true).length >= 2, heard.join(" "));
    // No call for each file: the service repeats its answer for all of them.
    assert.ok(!storage().calls.some((call) => call.startsWith("GET /api/v1/files")));
  });

  it("fail alone: one that the service refuses, one whose callback throws, one whose answer is no JSON", async () => {
    const { app, apiKey: key } = application().service;
    const body = { slug: "tiny", maxFileSize: 150 };
    const { projectId } = app.owner;
    const made = await app.call("POST", `projects/${projectId}/routers`, { key, body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const given: string[] = [];
    let throwsLeft = 2;
    const uploader = createOwn({
      any: createFileRouter()({
        routeSlug: "tiny",
        onUploadComplete: ({ file }) => {
          if (file.name === "throws.txt" && throwsLeft-- > 0) throw new Error("a bug");
          if (file.name === "odd.txt") return 1n as unknown as number;
          return file.size;
        },
        onUploadError: ({ file, error }) => void given.push(`${file.name}: ${error.message}`),
      }),
    });
    const files = [small("throws.txt", 9), ...handful(3, "ok"), small("large.txt", 151), small("odd.txt", 8)];
    const ends = await Promise.allSettled(uploader.add("any", files).map(({ done }) => done));
    assert.deepEqual(
      ends.map((end) => (end.status === "fulfilled" ? end.value.result : end.reason.code)),
      // Tried again by itself, the first one succeeds.
      [9, 100, 101, 102, "TIER_LIMIT_EXCEEDED", "CALLBACK_FAILED"],
    );
    assert.equal(given.length, 1);
    assert.match(given[0] ?? "", /^large\.txt: /);
  });

  it("get a fresh URL each where theirs have expired", async () => {
    storage().allow(0);
    const done = create().upload("any", handful(5, "late"));
    await until(() => storage().puts.length === 3);
    application().service.app.clock.advance(16 * 60 * 1000);
    storage().allow(Number.POSITIVE_INFINITY);
    assert.equal((await done).length, 5);
    assert.ok(storage().puts.some(({ status }) => status === 403));
    // One call renews those that expired together, and opens nothing new.
    assert.equal(uploadCalls().filter((call) => call === "batch/request").length, 2);
    assert.equal(await countStored("late"), 5);
  });

  it("are refused as a whole where a ticket is forged, twice there or of a large file", async () => {
    const { service, site } = application();
    const ask = async (body: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(site.endpoint, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: answer.status, body: (await answer.json()) as Record<string, never> };
    };
    const file = { name: "a.txt", size: 5, type: "text/plain" };
    const { body } = await ask({
      action: "begin",
      route: "any",
      files: [file, { ...file, size: 11 * MB }, file],
      groups: true,
    });
    const [ticket, large] = body["tickets"] as unknown as string[];
    for (const [tickets, status] of [
      [[ticket, "forged"], 403],
      [[ticket, ticket], 400],
      [[ticket, large], 400],
      [[], 400],
      ["ticket", 400],
      [Array.from({ length: 101 }, () => ticket), 400],
    ] as const) {
      assert.equal(
        (await ask({ action: "startMany", tickets })).status,
        status,
        JSON.stringify(tickets).slice(0, 50),
      );
    }
    assert.equal((await ask({ action: "completeMany", tokens: [ticket, ticket] })).status, 403);
    assert.equal(service.storage.calls.filter((call) => call.includes("batch")).length, 0);
  });

  it("open one upload for each ticket, in whatever company it is presented", async () => {
    const { site } = application();
    const ask = async <Body>(body: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(site.endpoint, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: answer.status, body: (await answer.json()) as Body };
    };
    const names = ["mine0.txt", "mine1.txt", "mine2.txt"];
    const files = names.map((name) => ({ name, size: 5, type: "text/plain" }));
    const begin = { action: "begin", route: "any", files };
    const { tickets, groups } = (await ask<BeginAnswer>({ ...begin, groups: true })).body;
    const [a, b, c] = tickets;
    assert.deepEqual(groups, [0, 0, 0]);
    const first = await ask<ManyAnswer<StartAnswer>>({ action: "startMany", tickets: [a, b] });
    assert.equal(first.status, 200);
    for (const others of [[a, c], [b, a], [a], [c]])
      assert.equal((await ask({ action: "startMany", tickets: others })).status, 400);
    for (const ticket of tickets) assert.equal((await ask({ action: "start", ticket })).status, 400);
    const again = await ask<ManyAnswer<StartAnswer>>({ action: "startMany", tickets: [a, b] });
    assert.equal(again.body.answers.length, 2);
    assert.equal(await countStored("mine"), 2);

    // Browsers that know nothing of groups open each by itself.
    const single = (await ask<BeginAnswer>(begin)).body;
    assert.equal(single.groups, undefined);
    assert.equal((await ask({ action: "start", ticket: single.tickets[0] })).status, 200);
  });

  it("go one by one to a handler that knows no groups", async () => {
    const { site } = application();
    const uploader = create({
      fetch: async (url: string, init: RequestInit) => {
        if (url !== site.endpoint) return fetch(url, init);
        const { groups: _, ...body } = JSON.parse(String(init.body));
        return fetch(url, { ...init, body: JSON.stringify(body) });
      },
    });
    await uploader.upload("any", handful(3));
    assert.deepEqual(new Set(actions()), new Set(["begin", "start", "complete"]));
  });

  it("share their calls on a server too", async () => {
    const { service } = application();
    const own = createUpstow({ apiKey: service.apiKey, baseUrl: service.storage.url });
    const files = handful(24, "server");
    const startedAt = performance.now();
    const stored = await Promise.all(files.map((file) => own.upload(file)));
    assert.deepEqual(
      stored.map(({ name, size }) => [name, size]),
      files.map(({ name, size }) => [name, size]),
    );
    assert.equal(uploadCalls().filter((call) => call.endsWith("request")).length, 1);
    expectCalls(3, startedAt, 100);
    storage().calls.length = 0;
    await own.upload(small("alone.txt"));
    assert.deepEqual(uploadCalls(), ["request", "complete"]);
  });
});

describe("an upload above the rate limit", () => {
  const limits = { rateWindowMs: 3_000, env: { UPSTOW_RATE_LIMITS: "upload=4" } };
  const { application, create, listOpen, storage } = useApplication(limits);
  const batches = () => storage().calls.filter((call) => call.includes("/upload/batch/"));

  async function useUpLimit(): Promise<void> {
    const { app, apiKey: key } = application().service;
    app.clock.setTime(app.clock.now());
    const call = { key, body: { fileId: "none" } };
    while ((await app.call("POST", "upload/complete", call)).status !== 429);
    storage().calls.length = 0;
  }
  const endWindow = () => application().service.app.clock.advance(3_000);

  it("can be cancelled while it waits, and nothing is opened for it", async () => {
    await useUpLimit();
    const uploader = create();
    const tasks = uploader.add("any", handful(6));
    await until(() => tasks.slice(0, 3).every((task) => task.getState().status === "waiting"));
    await uploader.cancel();
    for (const { done } of tasks) await assert.rejects(done, { code: "CANCELLED" });
    const seen = batches().length;
    endWindow();
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(batches().length, seen);
    assert.deepEqual(await listOpen(), []);
  });

  it("goes on without those that left, and with those that paused when they resume", async () => {
    await useUpLimit();
    const uploader = create();
    const tasks = uploader.add("any", handful(5, "left"));
    await until(() => tasks.slice(0, 3).every((task) => task.getState().status === "waiting"));
    const [first, second, , , last] = tasks;
    await first?.cancel();
    await last?.cancel();
    second?.pause();
    assert.deepEqual(
      tasks.map((task) => task.getState().status),
      // The turn of the fourth has come.
      ["cancelled", "paused", "waiting", "waiting", "cancelled"],
    );
    assert.deepEqual(
      tasks.map((task) => task.getState().waitSeconds === null),
      [true, true, false, false, true],
    );
    endWindow();
    await tasks[2]?.done;
    await tasks[3]?.done;
    second?.resume();
    await second?.done;
    assert.deepEqual(await listOpen(), []);
  });

  it("may be cancelled when only its completion waits, and is removed then", async () => {
    await useUpLimit();
    endWindow();
    storage().allow(0);
    const uploader = create();
    const [task] = uploader.add("any", small("sent.txt"));
    await until(() => storage().puts.length === 1);
    await useUpLimit();
    storage().allow(Number.POSITIVE_INFINITY);
    await until(() => task?.getState().status === "waiting");
    assert.equal(task?.getState().progress, 1);
    await task?.cancel();
    assert.deepEqual(await listOpen(), []);
  });

  it("tells a server how long it waits", async () => {
    await useUpLimit();
    const waits: number[] = [];
    const { service } = application();
    const own = createUpstow({
      apiKey: service.apiKey,
      baseUrl: service.app.url,
      onWait: (seconds) => {
        waits.push(seconds);
        endWindow();
      },
    });
    await own.upload(small("patient.txt"));
    assert.equal(waits.length, 1);
    assert.ok(Number(waits[0]) >= 1 && Number(waits[0]) <= 4, String(waits));
  });
});

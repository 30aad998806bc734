import assert from "node:assert/strict";
import { resolveObjectURL } from "node:buffer";
import { after, before, describe, it } from "node:test";
import { createUploader, type ResumeStore } from "@upstow/sdk/client";
import { startApplication, type TestApplication, until } from "../../sdk/test/support/start-application.ts";
import { createMemoryStore } from "../../sdk/test/support/uploader-bed.ts";
import { describeRules } from "../src/core/format.ts";
import { defaultLabels } from "../src/core/labels.ts";
import { createQueue } from "../src/core/queue.ts";
import { mergeRules } from "../src/core/rules.ts";
import type { Rules, UploadOptions } from "../src/core/types.ts";

const image = (name: string, sizeBytes = 10) =>
  new File([new Uint8Array(sizeBytes)], name, { type: "image/png" });

/** A list whose files stay where they are, unless something listens at its endpoint. */
function openQueue(
  given: Partial<UploadOptions> = {},
  ofRoute?: Rules,
  endpoint = "http://127.0.0.1:9/",
  resumeStore: ResumeStore | false = false,
) {
  const uploader = createUploader({ endpoint, resumeStore });
  const options: UploadOptions = { route: "files", autoStart: false, ...given };
  const rules = mergeRules(options, ofRoute);
  const queue = createQueue(
    () => uploader,
    () => ({ options, rules, labels: defaultLabels, locale: "en" }),
  );
  const list = () => queue.getSnapshot();
  return {
    uploader,
    queue,
    list,
    names: () => list().items.map(({ file, status }) => `${file.name} ${status}`),
  };
}

describe("a list of files", () => {
  it("refuses what breaks a rule of the route, and says why", () => {
    const failures: string[] = [];
    const { queue, names, list } = openQueue(
      {
        validate: (file) => (file.name.startsWith("x") ? "No x." : null),
        onFailed: ({ error }) => failures.push(error.message),
      },
      { allowedTypes: ["image/*", ".csv", "text/html"], maxFileSize: 100, maxFileCount: null },
    );
    // As a file that was fetched has it.
    const page = new File(["a"], "page", { type: "text/html; charset=utf-8" });
    const text = new File(["a"], "a.txt", { type: "text/plain" });
    const table = new File(["a"], "TABLE.CSV", { type: "" });
    queue.add([
      image("fine.png"),
      image("large.png", 101),
      image("empty.png", 0),
      text,
      table,
      page,
      image("x.png"),
    ]);
    assert.deepEqual(names(), [
      "fine.png staged",
      "large.png rejected",
      "empty.png rejected",
      "a.txt rejected",
      "TABLE.CSV staged",
      "page staged",
      "x.png rejected",
    ]);
    assert.deepEqual(failures, [
      "large.png is larger than 100 bytes.",
      "empty.png is empty.",
      "a.txt is not of an accepted type.",
      "No x.",
    ]);
    assert.equal(list().announcement, "large.png failed: large.png is larger than 100 bytes.");
    assert.equal(list().totalBytes, 12);
  });

  it("takes as many files as there is room for, and one file in place of another", () => {
    const three = openQueue({ maxFileCount: 3 });
    three.queue.add([image("1.png"), image("2.png")]);
    three.queue.add([image("3.png"), image("4.png")]);
    assert.deepEqual(three.names(), ["1.png staged", "2.png staged", "3.png staged", "4.png rejected"]);
    const one = openQueue({ maxFileCount: 1 });
    one.queue.add([image("1.png")]);
    one.queue.add([image("2.png"), image("3.png")]);
    assert.deepEqual(one.names(), ["2.png staged", "3.png rejected"]);
    one.queue.add([]);
    assert.deepEqual(one.names(), ["2.png staged", "3.png rejected"], "nothing takes no place");
  });

  it("counts and measures each type by itself, and says so beforehand", () => {
    const rules: Rules = {
      allowedTypes: ["image/*", "application/pdf", "text/plain"],
      maxFileSize: 2048,
      maxFileCount: 4,
      limits: {
        "image/*": { maxFileSize: 1024, maxFileCount: 2 },
        "application/pdf": { maxFileSize: 2048, maxFileCount: 1 },
        "text/plain": { maxFileSize: 2048, maxFileCount: null },
      },
    };
    const { queue, names, list } = openQueue({}, rules);
    const pdf = (name: string) => new File([new Uint8Array(2000)], name, { type: "application/pdf" });
    const text = new File(["a"], "a.txt", { type: "text/plain" });
    queue.add([image("1.png"), image("large.png", 1025), image("2.png"), image("3.png"), pdf("1.pdf")]);
    queue.add([pdf("2.pdf"), text, text]);
    assert.deepEqual(names(), [
      "1.png staged",
      "large.png rejected",
      "2.png staged",
      "3.png rejected",
      "1.pdf staged",
      "2.pdf rejected",
      "a.txt staged",
      "a.txt rejected",
    ]);
    assert.deepEqual(
      list().items.flatMap(({ error }) => error?.message ?? []),
      [
        "large.png is larger than 1 kB.",
        "3.png: Images, at most 2 files",
        "2.pdf: PDF, at most 1 file",
        "a.txt: at most 4 files",
      ],
    );
    assert.equal(
      describeRules(rules, defaultLabels, "en"),
      "Images up to 1 kB each, at most 2 files · PDF up to 2 kB · Text up to 2 kB each",
    );
    assert.equal(
      describeRules({ allowedTypes: ["*/*"], maxFileSize: 2000, maxFileCount: 4 }, defaultLabels, "en"),
      "Up to 2 kB each · at most 4 files",
    );
    const own = mergeRules({ route: "files", accept: ["image", "pdf", ".csv"], maxFileSize: 512 }, rules);
    assert.deepEqual(own.allowedTypes, ["image/*", "application/pdf", ".csv"]);
    assert.deepEqual(own.limits?.["image/*"], { maxFileSize: 512, maxFileCount: 2 });
  });

  it("keeps the order that was given to it", () => {
    const { queue, list, names } = openQueue();
    queue.add([image("a.png"), image("b.png"), image("c.png")]);
    queue.move(list().items[2]?.id ?? "", 0);
    assert.deepEqual(names(), ["c.png staged", "a.png staged", "b.png staged"]);
    queue.move(list().items[0]?.id ?? "", 9);
    assert.deepEqual(names(), ["a.png staged", "b.png staged", "c.png staged"]);
  });

  it("offers what was left unfinished on its route, but not while the same file is on the list", async () => {
    const endpoint = "http://127.0.0.1:9/";
    const store = createMemoryStore();
    const file = new File([new Uint8Array(100)], "movie.mp4", { lastModified: 5 });
    const save = (route: string, at = endpoint) =>
      store.save({
        fingerprint: JSON.stringify([`${at} ${route}`, "movie.mp4"]),
        ...{ route, name: "movie.mp4", size: 100, lastModified: 5, sentBytes: 25, token: "t" },
        savedAt: Date.now(),
      });
    await Promise.all([save("files"), save("others"), save("files", "http://127.0.0.1:9/other")]);
    const { queue, list } = openQueue({}, undefined, endpoint, store);
    queue.subscribe(() => {});
    await until(() => list().unfinished.length > 0);
    assert.deepEqual(
      list().unfinished.map(({ name, progress }) => [name, progress]),
      [["movie.mp4", 0.25]],
    );
    queue.add([file]);
    assert.deepEqual(list().unfinished, []);
    queue.remove(list().items[0]?.id ?? "");
    await until(() => list().unfinished.length === 1);
    queue.discard(list().unfinished[0]?.id ?? "");
    assert.deepEqual(list().unfinished, []);
    await until(() => store.kept.size === 2);
  });

  it("takes nothing while it is disabled", () => {
    const { queue, names } = openQueue({ isDisabled: true });
    queue.add([image("a.png")]);
    assert.deepEqual(names(), []);
  });

  it("hands out the same objects until something changes", () => {
    const { queue, list } = openQueue();
    queue.add([image("a.png")]);
    const [first] = list().items;
    queue.add([image("b.png")]);
    assert.equal(list().items[0], first);
    assert.equal(list(), list());
  });

  it("lets go of previews when nobody looks, and makes new ones when somebody does", () => {
    const { queue, list } = openQueue();
    const preview = () => list().items[0]?.previewUrl ?? "";
    const leave = queue.subscribe(() => {});
    queue.add([image("a.png")]);
    const first = preview();
    assert.notEqual(resolveObjectURL(first), undefined);
    leave();
    assert.equal(resolveObjectURL(first), undefined);
    const leaveAgain = queue.subscribe(() => {});
    assert.notEqual(preview(), first);
    assert.notEqual(resolveObjectURL(preview()), undefined);
    const second = preview();
    queue.remove(list().items[0]?.id ?? "");
    assert.equal(resolveObjectURL(second), undefined);
    leaveAgain();
    // A drop of a folder may have been read when its component had gone.
    queue.add([image("late.png")]);
    assert.equal(preview(), "");
  });
});

describe("a list whose files are uploaded", () => {
  let application: TestApplication;
  before(async () => {
    application = await startApplication();
  });
  after(() => application?.close());

  /** What `onAllDone` was given, each time. */
  function openRecorded(given: Partial<UploadOptions> = {}) {
    const allDone: string[] = [];
    const onAllDone: UploadOptions["onAllDone"] = (items) =>
      allDone.push(items.map(({ file }) => file.name).join(" "));
    const options = { route: "any", autoStart: true, onAllDone, ...given };
    const opened = openQueue(options, undefined, application.site.endpoint);
    return { ...opened, allDone, leave: opened.queue.subscribe(() => {}) };
  }

  it("tells once that all are done, also where what failed was taken away", async () => {
    const { queue, list, names, allDone } = openRecorded({ maxFileSize: 100 });
    queue.add([image("large.png", 101), image("a.png")]);
    await until(() => names()[1] === "a.png done");
    assert.deepEqual(allDone, [], "one failed");
    queue.remove(list().items[0]?.id ?? "");
    assert.deepEqual(allDone, ["a.png"]);
    queue.add([image("large.png", 101)]);
    queue.remove(list().items[1]?.id ?? "");
    assert.deepEqual(allDone, ["a.png"], "nothing new is done");
  });

  it("keeps what is stored where the backend refuses a file among others", async () => {
    const stored: string[] = [];
    const failed: string[] = [];
    const { queue, names } = openRecorded({
      route: "album",
      input: { album: 5 },
      onUploaded: ({ file }) => stored.push(`${file.name} ${file.result} ${file.url !== ""}`),
      onFailed: ({ item }) => failed.push(item.file.name),
    });
    queue.add([image("a.png"), new File(["a"], "a.txt", { type: "text/plain" }), image("b.png")]);
    await until(() => names()[0] === "a.png done" && names()[2] === "b.png done");
    assert.deepEqual(names(), ["a.png done", "a.txt failed", "b.png done"]);
    assert.deepEqual(stored.toSorted(), ["a.png 5 true", "b.png 5 true"]);
    assert.deepEqual(failed, ["a.txt"]);
  });

  it("does not take a list that is cleared for one that is done", async () => {
    const { queue, names, allDone } = openRecorded({ maxFileSize: 100 });
    queue.add([image("large.png", 101), image("a.png")]);
    await until(() => names()[1] === "a.png done");
    queue.clear();
    assert.deepEqual(names(), []);
    assert.deepEqual(allDone, []);
  });

  it("tells of files that a callback took off the list when they were done", async () => {
    const { queue, allDone, names } = openRecorded({ onUploaded: ({ item }) => queue.remove(item.id) });
    queue.add([image("a.png")]);
    await until(() => names().length === 0);
    assert.deepEqual(allDone, ["a.png"]);
  });

  it("tries again what was taken off the list of all uploads", async () => {
    const { uploader, queue, list, names } = openRecorded();
    application.service.storage.cutsPut = () => true;
    queue.add([image("a.png", 5_000)]);
    queue.cancel();
    await until(() => names()[0] === "a.png cancelled");
    uploader.clear();
    application.service.storage.cutsPut = () => false;
    queue.retry(list().items[0]?.id);
    await until(() => names()[0] === "a.png done");
    assert.equal(uploader.getSnapshot().uploads.length, 1);
  });

  it("hears of its files again after nobody had looked", async () => {
    const { uploader, queue, names, leave } = openRecorded();
    const { storage } = application.service;
    storage.allow(0);
    queue.add([image("a.png", 5_000)]);
    await until(() => names()[0] === "a.png uploading");
    queue.pause();
    assert.deepEqual(names(), ["a.png paused"]);
    leave();
    queue.subscribe(() => {});
    storage.dropHeld();
    storage.allow(Number.POSITIVE_INFINITY);
    uploader.resume();
    await until(() => uploader.getSnapshot().uploads[0]?.status === "done");
    assert.deepEqual(names(), ["a.png done"]);
  });
});

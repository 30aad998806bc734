import assert from "node:assert/strict";
import { test } from "node:test";
import { createRenderQueue, type QueueLimits } from "./render-queue.ts";

interface Job {
  name: string;
  account: string;
  isPreview(): boolean;
}

function open(limits: Partial<QueueLimits> = {}) {
  const queue = createRenderQueue<Job>({
    size: 1,
    waitingPerAccount: 3,
    waitingInAll: 100,
    previewsPerAccount: { running: 1, waiting: 2 },
    ...limits,
  });
  /** "a1" is the first job of account a; "a1?" a preview. */
  const create = (name: string): Job => ({
    name,
    account: name.slice(0, 1),
    isPreview: () => name.endsWith("?"),
  });
  const add = (...names: string[]) => names.map((name) => queue.add(create(name)));
  const start = () => queue.start()?.name ?? null;
  return { queue, create, add, start };
}

/** Runs one job at a time and tells in which order they had their turns. */
function drain({ queue }: ReturnType<typeof open>): string[] {
  const order: string[] = [];
  for (let job = queue.start(); job !== null; job = queue.start()) {
    order.push(job.name);
    queue.finish(job);
  }
  return order;
}

test("accounts take turns, however much one of them has waiting", () => {
  const opened = open();
  opened.add("a1", "a2", "a3", "b1", "c1", "b2");
  assert.deepEqual(drain(opened), ["a1", "b1", "c1", "a2", "b2", "a3"]);
  assert.deepEqual(opened.queue.counts(), { running: 0, waiting: 0 });
});

test("who comes while another keeps all workers busy gets one more, and a third waits", () => {
  const { add, start, queue, create } = open({ size: 2 });
  const first = create("a1");
  queue.add(first);
  add("a2", "a3", "b1", "b2", "c1");
  assert.deepEqual([start(), start(), start(), start()], ["a1", "b1", "c1", null]);
  queue.finish(first);
  assert.equal(start(), "a2");
  assert.equal(start(), null);
});

test("one account alone has no more than its workers, and all of them", () => {
  const { add, start } = open({ size: 2 });
  add("a1", "a2", "a3");
  assert.deepEqual([start(), start(), start()], ["a1", "a2", null]);
});

test("a full queue refuses its own account and nobody else", () => {
  const { add, start } = open();
  add("a0");
  start();
  assert.deepEqual(add("a1", "a2", "a3", "a4"), [null, null, null, 3]);
  assert.deepEqual(add("b1"), [null]);
});

test("when all queues together are full, whoever has nothing waiting still gets a place", () => {
  const { add, start } = open({ waitingInAll: 3 });
  add("a0");
  start();
  assert.deepEqual(add("a1", "a2", "a3"), [null, null, null]);
  assert.deepEqual(add("b1", "b2"), [null, 1]);
  assert.equal(start(), "b1");
  assert.deepEqual(add("b2", "b3", "c1"), [null, 1, null]);
});

test("readers come before previews, and previews have bounds of their own", () => {
  const opened = open();
  opened.add("a0");
  const running = opened.queue.start();
  assert.deepEqual(opened.add("a1?", "a2?", "a3?", "a4"), [null, null, 2, null]);
  assert.ok(running !== null);
  opened.queue.finish(running);
  assert.deepEqual(drain(opened), ["a4", "a1?", "a2?"]);
});

test("previews of one account keep no more workers than they may, and readers get the others", () => {
  const { add, start } = open({ size: 3 });
  add("a1?", "a2?");
  assert.deepEqual([start(), start()], ["a1?", null]);
  add("a3");
  assert.equal(start(), "a3");
});

test("a preview gets no worker beyond the usual ones; a reader does, beside a preview of the account's own too", () => {
  for (const first of ["a1", "b0?"]) {
    const { add, start } = open();
    add(first);
    assert.equal(start(), first);
    add("b1?");
    assert.equal(start(), null);
    add("b2", "b3");
    assert.deepEqual([start(), start()], ["b2", null]);
  }
});

test("a preview that a reader comes to wait for is one no more", () => {
  const { queue, add, start } = open({ size: 3 });
  let isPreview = true;
  add("a1?");
  assert.equal(start(), "a1?");
  queue.add({ name: "joined", account: "a", isPreview: () => isPreview });
  assert.equal(start(), null);
  isPreview = false;
  assert.equal(start(), "joined");
});

test("what is taken back makes room, and only while it waits", () => {
  const { queue, create, add, start } = open();
  const [first, second] = [create("a1"), create("a2")];
  queue.add(first);
  queue.add(second);
  assert.equal(start(), "a1");
  assert.deepEqual([queue.remove(first), queue.remove(second), queue.remove(second)], [false, true, false]);
  assert.deepEqual(queue.counts(), { running: 1, waiting: 0 });
  assert.deepEqual(add("a3", "a4", "a5"), [null, null, null]);
});

import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "@upstow/server/db/database";
import type { Call, Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const imagesBackfill: Command = {
  name: "images backfill",
  summary: "Read size, colours and placeholder of images uploaded before the service did this",
  options: {
    retry: { description: "also retry images that could not be read last time" },
    wait: { description: "show progress until the service has read all waiting images" },
  },
  notes: `Marks the images; the running service reads them, or does so when it next starts, while projects take turns and
visitors' variants come first. May be stopped and repeated at any time.`,
  async run(call) {
    const { backfillFacts, countWaiting } = await import("@upstow/server/serving/images/describe-images");
    const { createImageTypes } = await import("@upstow/server/files/image-facts");
    const { findTools } = await import("@upstow/server/serving/images/render/tools/recipes");
    const { listToolTypes } = await import("@upstow/server/serving/images/render/tools/recipes");
    const retries = call.options.has("retry");
    const isFollowed = call.options.has("wait");
    return withInterrupt(call, (signal) =>
      withDatabase(call, async ({ config, db }) => {
        const store = config.s3 === null ? "disk" : "s3";
        const onStep = ({ files, images }: Marked) =>
          call.showsProgress &&
          call.progress(`${count(files)} files checked, ${count(images)} images marked`);
        const imageTypes = createImageTypes(listToolTypes(findTools()));
        const marked = await backfillFacts(db, { store, imageTypes, retries }, onStep, signal);
        if (isFollowed) await follow(call, db, countWaiting, signal);
        const waiting = await countWaiting(db);
        return {
          json: { ...marked, waiting },
          text: `Checked ${count(marked.files)} files and marked ${count(marked.images)} images. ${count(waiting)} are waiting to be read.`,
        };
      }),
    );
  },
};

interface Marked {
  files: number;
  images: number;
}

const lookEveryMs = 1_000;
const lineEveryMs = 10_000;

async function follow(
  call: Call,
  db: Database,
  countWaiting: (db: Database) => Promise<number>,
  signal: AbortSignal,
): Promise<void> {
  for (let shownMs = 0; !signal.aborted; ) {
    const waiting = await countWaiting(db);
    if (waiting === 0) return;
    const text = `${count(waiting)} images are waiting to be read`;
    if (call.showsProgress) call.progress(text);
    else if (Date.now() - shownMs >= lineEveryMs) {
      shownMs = Date.now();
      call.note(text);
    }
    await wait(lookEveryMs, undefined, { signal }).catch(() => {});
  }
}

/** Ctrl-C ends after the current step and still reports what was done; a second one ends immediately. */
async function withInterrupt<T>(call: Call, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  call.signals.once("SIGINT", stop);
  try {
    return await work(stopping.signal);
  } finally {
    call.signals.off("SIGINT", stop);
  }
}

const count = (amount: number) => amount.toLocaleString("en");

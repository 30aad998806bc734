import { settleBatch } from "../api/batch.ts";
import type { Uploads } from "../api/uploads.ts";
import { UpstowError } from "../errors.ts";
import { mayPass } from "../http/call.ts";
import { countFitting, createGatherer } from "../transfer/gather.ts";
import type { CompletedFile } from "../wire/files.ts";
import type { RequestedUpload, RequestUploadBody } from "../wire/uploads.ts";

export interface Together {
  /** Call it when an upload starts. Call the returned functions when it has nothing more to request or send. */
  expect(): { opened(): void; sent(): void };
  request(body: RequestUploadBody, idempotencyKey: string): Promise<RequestedUpload>;
  complete(fileId: string): Promise<CompletedFile>;
}

/** The service accepts bodies of up to 1 MB. */
const weightPerCall = 900 * 1024;

/** Concurrent uploads share their calls. With `isBulk`, calls wait for more of them. */
export function createTogether(uploads: Uploads, isBulk: boolean): Together {
  let opening = 0;
  let sending = 0;
  const requests = createGatherer<{ body: RequestUploadBody; idempotencyKey: string }, RequestedUpload>({
    fits: (items) =>
      countFitting(
        items.map(({ body }) => ({ bytes: body.fileSize, weight: JSON.stringify(body).length })),
        weightPerCall,
      ),
    isMoreComing: () => opening > 0,
    firstMs: 20,
    longestMs: 20,
    send(items) {
      const bodies = items.map(({ body }) => body);
      const ask = (i: number) => {
        const { body, idempotencyKey } = items[i] as (typeof items)[number];
        return uploads.request(body, { idempotencyKey });
      };
      if (items.length === 1) return [ask(0)];
      return distribute(items, settleBatch(uploads.requestMany(bodies), "uploads"), ask);
    },
  });
  const completions = createGatherer<string, CompletedFile>({
    fits: (ids) =>
      countFitting(
        ids.map(() => ({ bytes: 0, weight: 0 })),
        weightPerCall,
      ),
    isMoreComing: () => sending > 0,
    firstMs: isBulk ? 1_000 : 100,
    longestMs: isBulk ? 4_000 : 100,
    send(ids) {
      const ask = (i: number) => uploads.complete({ fileId: ids[i] as string });
      if (ids.length === 1) return [ask(0)];
      const asked = settleBatch(uploads.completeMany(ids.map((fileId) => ({ fileId }))), "files");
      return distribute(ids, asked, async (i) => ({ file: await ask(i) })).map(
        async (item) => (await item).file,
      );
    },
  });
  return {
    expect() {
      opening++;
      sending++;
      return {
        opened: once(() => {
          opening--;
          requests.look();
        }),
        sent: once(() => {
          sending--;
          completions.look();
        }),
      };
    },
    request: (body, idempotencyKey) => requests.add({ body, idempotencyKey }),
    complete: completions.add,
  };
}

/** A temporary error is retried for its file alone. */
function distribute<Success extends object>(
  items: readonly unknown[],
  asked: Promise<(Success | UpstowError)[]>,
  askAlone: (i: number) => Promise<Success>,
): Promise<Success>[] {
  return items.map(async (_, i) => {
    const item = (await asked)[i] as Success | UpstowError;
    if (!(item instanceof UpstowError)) return item;
    if (mayPass(item)) return askAlone(i);
    throw item;
  });
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

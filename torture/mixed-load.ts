import { setTimeout as wait } from "node:timers/promises";
import { hookUrl } from "./fuzz/tenants.ts";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import { Violation } from "./scenario.ts";
import { watchForStalls } from "./stalls.ts";
import { createUploader, type Upload } from "./uploads.ts";
import { inParallel } from "./with-app.ts";

const mostKept = 40;
/** Together a little more than the 32 MiB that are kept. */
const largestCachedBytes = 60 * 1024;
const cachedFiles = 600;

/** What many users of one installation do, in the shares that they do it in; it deletes as much as it makes. */
export async function createMixedLoad(installation: Installation, random: Random, violations: string[]) {
  const { call, key, projectId } = installation;
  const kept: Upload[] = [];
  let answers = 0;
  let uploads = 0;
  let downloads = 0;
  let cutShort = 0;
  const stalls = watchForStalls();
  const uploader = createUploader(installation, random, () => {
    answers++;
  });
  const route = { slug: "hooked", webhookUrl: hookUrl };
  await call("POST", `projects/${projectId}/routers`, { key, body: route });

  const anyKept = () => kept[random.int(0, Math.max(0, kept.length - 1))];

  async function ask(method: string, path: string, expected: number[], body?: unknown): Promise<void> {
    const answer = await call(method, path, { key, ...(body === undefined ? {} : { body }) });
    answers++;
    if (!expected.includes(answer.status))
      throw new Violation(
        `${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
  }

  async function upload(): Promise<void> {
    const one = await (random.chance(0.01) ? uploader.openMultipart() : uploader.openSingle());
    await uploader.finish(one);
    uploads++;
    kept.push(one);
    const old = kept.length > mostKept ? kept.shift() : undefined;
    if (old !== undefined) await ask("DELETE", `files/${encodeURIComponent(old.key)}`, [200]);
  }

  async function download(): Promise<void> {
    const one = anyKept();
    if (one === undefined) return;
    const status = await readWhole(one.url).catch((error) => {
      // Who deletes a file breaks the downloads of its later parts.
      if (kept.includes(one)) throw error;
      return 404;
    });
    downloads++;
    if (status !== 200 && status !== 404) throw new Violation(`a download was answered with ${status}`);
  }

  const others = [
    () => ask("GET", "files?limit=20", [200]),
    () => ask("GET", "usage", [200]),
    () => ask("GET", "logs?limit=10", [200]),
    () => ask("GET", "webhooks/deliveries?limit=10", [200]),
    () => ask("GET", "files/none", [404]),
    () => ask("POST", "upload/request", [400], { fileName: "" }),
    () =>
      ask("PATCH", `files/${encodeURIComponent(anyKept()?.key ?? "none")}`, [200, 404], {
        metadata: { a: 1 },
      }),
    () => openAndForget(),
  ];

  /** Begins to send and goes away. */
  async function openAndForget(): Promise<void> {
    const wanted = { fileName: "a", fileSize: 100_000, contentType: "text/plain", routeSlug: "hooked" };
    const { body } = await call("POST", "upload/request", { key, body: wanted });
    const leaving = AbortSignal.timeout(random.int(1, 30));
    await fetch(body.uploadUrl, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: Buffer.alloc(100_000),
      signal: leaving,
    }).then(
      (answer) => answer.arrayBuffer(),
      () => {},
    );
    await ask("DELETE", `files/${encodeURIComponent(body.key)}`, [200]);
  }

  async function actOnce(): Promise<void> {
    if (random.chance(0.4)) return upload();
    if (random.chance(0.5)) return download();
    await others[random.int(0, others.length - 1)]?.();
  }

  return {
    /** As many small files as the service keeps in memory are uploaded and read: that it does so is no growth. */
    async fillCaches(): Promise<void> {
      await inParallel(cachedFiles, 6, async () => {
        const one = await uploader.openSized(largestCachedBytes);
        await uploader.finish(one);
        await uploader.download(one);
        await ask("DELETE", `files/${encodeURIComponent(one.key)}`, [200]);
      });
    },
    async run(isOver: () => boolean, pauseMs: number): Promise<void> {
      while (!isOver()) {
        await wait(pauseMs);
        const startedMs = Date.now();
        await actOnce().catch((error) => {
          if (stalls.overlap(startedMs)) cutShort++;
          else violations.push(error instanceof Violation ? error.message : `a call failed: ${error}`);
        });
      }
    },
    counts: () => ({
      "calls of the API": answers,
      "files uploaded": uploads,
      "files downloaded": downloads,
      "not judged, because the machine was suspended": cutShort,
    }),
  };
}

async function readWhole(url: string): Promise<number> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.status;
}

import { hash, randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { noise } from "../../packages/server/test/support/render/test-images.ts";
import type { Answer } from "../../packages/server/test/support/start-app.ts";
import type { Installation } from "../installation.ts";
import { Violation } from "../scenario.ts";

/** What the honest account does; each kind is timed by itself. */
export const kinds = ["upload", "upload by tus", "import", "read", "ready variant", "new variant"] as const;
export type Kind = (typeof kinds)[number];

export type Samples = Record<Kind, number[]>;

const pauseMs = 25;
const pollMs = 20;
const largestSidePx = 1_000;

/** An ordinary customer beside the hostile ones: uploads, imports, reads and image variants, one after the other. */
export async function createVictim({ url: serviceUrl, call, key }: Installation) {
  const body = randomBytes(64 * 1024);
  const sha256 = hash("sha256", body);
  const picture = await noise(640, 480, 7).jpeg().toBuffer();
  let variants = 0;

  async function post(path: string, fields: unknown, wanted = 200): Promise<Answer["body"]> {
    const answer = await call("POST", path, { key, body: fields });
    if (answer.status !== wanted)
      throw new Violation(`POST ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async function fetchWhole(url: string, init?: RequestInit): Promise<Buffer> {
    const answer = await fetch(url, init);
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200)
      throw new Violation(
        `${init?.method ?? "GET"} was answered with ${answer.status}: ${bytes.subarray(0, 300)}`,
      );
    return bytes;
  }

  async function upload(
    bytes: Buffer<ArrayBuffer>,
    contentType: string,
  ): Promise<{ key: string; url: string }> {
    const fields = { fileName: "honest", fileSize: bytes.length, contentType, routeSlug: "default" };
    const { fileId, uploadUrl } = await post("upload/request", fields);
    await fetchWhole(uploadUrl, { method: "PUT", headers: { "content-type": contentType }, body: bytes });
    return (await post("upload/complete", { fileId })).file;
  }

  const image = await upload(Buffer.from(picture), "image/jpeg");
  const page = await upload(body, "text/plain");
  const askForVariant = (width: number, quality: number) =>
    post("transforms/image", { key: image.key, width, quality, format: "webp" });
  const ready = await askForVariant(320, 85);
  await fetchWhole(ready.url);

  const acts: Record<Kind, () => Promise<unknown>> = {
    upload: () => upload(body, "text/plain"),
    async "upload by tus"() {
      const answer = await fetch(`${serviceUrl}/tus`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "tus-resumable": "1.0.0",
          "content-type": "application/offset+octet-stream",
          "upload-length": String(body.length),
        },
        body,
      });
      if (answer.status !== 201 || answer.headers.get("upstow-file-id") === null)
        throw new Violation(`an upload by tus was answered with ${answer.status}: ${await answer.text()}`);
    },
    async import() {
      const { file } = await post("upload/import", { url: page.url, routeSlug: "default" }, 202);
      for (let { status } = file; status !== "UPLOADED"; ) {
        if (status === "FAILED") throw new Violation("an import failed");
        await wait(pollMs);
        ({ status } = (await call("GET", `files/${file.id}`, { key })).body.file);
      }
    },
    async read() {
      if (hash("sha256", await fetchWhole(page.url)) !== sha256)
        throw new Violation("other bytes were served");
    },
    "ready variant": () => fetchWhole(ready.url),
    async "new variant"() {
      const at = variants++;
      const { url } = await askForVariant(
        1 + (at % largestSidePx),
        1 + (Math.floor(at / largestSidePx) % 100),
      );
      await fetchWhole(url);
    },
  };

  return {
    async run(isOver: () => boolean, violations: string[]): Promise<Samples> {
      const samples = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Samples;
      async function repeat(kind: Kind): Promise<void> {
        while (!isOver()) {
          const startedMs = performance.now();
          try {
            await acts[kind]();
            samples[kind].push(performance.now() - startedMs);
          } catch (error) {
            violations.push(
              `the honest account's ${kind}: ${error instanceof Violation ? error.message : error}`,
            );
          }
          await wait(pauseMs);
        }
      }
      await Promise.all(kinds.map(repeat));
      return samples;
    },
  };
}

export function percentile(samples: number[], share: number): number {
  const ascending = samples.toSorted((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

import { hash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import { Violation } from "./scenario.ts";

interface Kept {
  fileId: string;
  key: string;
  url: string;
  sha256: string;
}

const patienceMs = 20_000;
/** What a broken disk may be answered with. */
const honestRefusals = [503, 507];

/** Small uploads that may be refused; of those whose completion was answered with 200, nothing may be lost. */
export function createLedger({ call, key }: Installation, random: Random) {
  const kept: Kept[] = [];
  let refusals = 0;
  let broken = 0;

  function refuse(status: number, what: string): null {
    if (!honestRefusals.includes(status)) throw new Violation(`${what} was answered with ${status}`);
    refusals++;
    return null;
  }

  async function uploadOnce(): Promise<Kept | null> {
    const bytes = Buffer.alloc(random.int(1, 80_000), `${random.int(0, 2 ** 31)} `);
    const wanted = {
      fileName: "a.txt",
      fileSize: bytes.length,
      contentType: "text/plain",
      routeSlug: "default",
    };
    const requested = await call("POST", "upload/request", { key, body: wanted });
    if (requested.status !== 200) return refuse(requested.status, "a request for an upload");
    const { fileId, uploadUrl, cdnUrl, key: fileKey } = requested.body;
    const put = await fetch(uploadUrl, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body: bytes,
    });
    await put.text();
    if (put.status !== 200) return refuse(put.status, "a PUT");
    const completed = await call("POST", "upload/complete", { key, body: { fileId } });
    if (completed.status !== 200) return refuse(completed.status, "a completion");
    return { fileId, key: fileKey, url: cdnUrl, sha256: hash("sha256", bytes) };
  }

  const attempts = () => kept.length + refusals + broken;

  return {
    kept,
    /** Waits for so many attempts more, however slow the machine is. */
    async waitForAttempts(count: number): Promise<void> {
      const enough = attempts() + count;
      const deadlineMs = Date.now() + patienceMs;
      while (attempts() < enough && Date.now() < deadlineMs) await wait(5);
    },
    counts: () => ({
      "completions acknowledged": kept.length,
      "rejected with 503 or 507": refusals,
      "connections broken": broken,
    }),
    /** Uploads until told to stop. */
    async run(isOver: () => boolean, violations: string[]): Promise<void> {
      while (!isOver()) {
        try {
          const done = await uploadOnce();
          if (done !== null) kept.push(done);
        } catch (error) {
          if (error instanceof Violation) violations.push(error.message);
          else broken++;
        }
      }
    },
    /** Every acknowledged file from number `from` on, as a client sees it. */
    async check(from: number): Promise<string[]> {
      const wrong: string[] = [];
      for (const file of kept.slice(from)) {
        const answer = await call("GET", `files/${encodeURIComponent(file.key)}`, { key });
        const served = await fetch(file.url);
        const sha256 = hash("sha256", Buffer.from(await served.arrayBuffer()));
        if (answer.body.file?.status !== "UPLOADED" || sha256 !== file.sha256)
          wrong.push(
            `${file.fileId} was acknowledged and is ${answer.body.file?.status ?? answer.status}, served with ${served.status}`,
          );
      }
      return wrong;
    },
  };
}

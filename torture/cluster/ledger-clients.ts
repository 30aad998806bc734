import { hash, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../random.ts";
import type { Done } from "./judge-files.ts";

const contentType = "application/octet-stream";
/** How long a client waits for one response. */
const attemptMs = 6_000;
/** Longer than a fault takes on a busy machine, which may need a minute to start three instances again. */
const patienceMs = 300_000;

/** A step of an upload, repeated until it succeeded. */
export interface Call {
  startedAt: number;
  endedAt: number;
}

/** A step that has not succeeded yet. */
export interface OpenStep {
  what: string;
  startedAt: number;
  /** What each attempt heard instead, and when. */
  refusals: string[];
}

export interface LedgerClients {
  done: Done[];
  failures: string[];
  /** Files whose last step was given up: it may have been done without a response. */
  givenUp: ReadonlySet<string>;
  calls: Call[];
  /** The steps that have not succeeded yet. */
  open: ReadonlySet<OpenStep>;
  /** Finishes the uploads in progress. */
  stop(): Promise<void>;
}

interface Options {
  url: string;
  key: string;
  routeSlug: string;
  random: Random;
  count: number;
}

/** Clients without the SDK: plain requests with an Idempotency-Key, repeated until one succeeds. */
export function startLedgerClients({ url, key, routeSlug, random, count }: Options): LedgerClients {
  const done: Done[] = [];
  const failures: string[] = [];
  const calls: Call[] = [];
  const givenUp = new Set<string>();
  const open = new Set<OpenStep>();
  let isStopped = false;

  async function tryUntilDone<T>(what: string, attempt: () => Promise<T | { refused: string }>): Promise<T> {
    const startedAt = performance.now();
    const step: OpenStep = { what, startedAt, refusals: [] };
    open.add(step);
    using _ = { [Symbol.dispose]: () => void open.delete(step) };
    for (;;) {
      const result = await attempt().catch((error: Error) => ({ refused: error.message }));
      const endedAt = performance.now();
      if (typeof result !== "object" || result === null || !("refused" in result)) {
        calls.push({ startedAt, endedAt });
        return result as T;
      }
      step.refusals.push(`${result.refused} after ${Math.round(endedAt - startedAt)} ms`);
      if (endedAt - startedAt > patienceMs) throw new Error(describeStep(step));
      await wait(random.int(50, 300));
    }
  }

  function post<T>(path: string, body: object): Promise<T> {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    };
    return tryUntilDone(path, async () => {
      const signal = AbortSignal.timeout(attemptMs);
      const response = await fetch(`${url}/api/v1/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal,
      });
      const text = await response.text();
      return response.status === 200 ? (JSON.parse(text) as T) : { refused: `${response.status} ${text}` };
    });
  }

  async function uploadOne(): Promise<void> {
    const bytes = Buffer.alloc(random.int(1, 100 * 1024), `${random.int(0, 2 ** 32 - 1)} `);
    const body = { fileName: "ledger.bin", fileSize: bytes.length, contentType, routeSlug };
    const { fileId, uploadUrl } = await post<{ fileId: string; uploadUrl: string }>("upload/request", body);
    await tryUntilDone("PUT", async () => {
      const signal = AbortSignal.timeout(attemptMs);
      const headers = { "content-type": contentType };
      const response = await fetch(uploadUrl, { method: "PUT", headers, body: bytes, signal });
      await response.arrayBuffer();
      return response.ok ? true : { refused: String(response.status) };
    });
    givenUp.add(fileId);
    const { file } = await post<{ file: { id: string; url: string } }>("upload/complete", { fileId });
    givenUp.delete(fileId);
    done.push({ id: file.id, url: file.url, sha256: hash("sha256", bytes) });
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      await uploadOne().catch((error: Error) => void failures.push(`an upload failed: ${error.message}`));
      await wait(random.int(0, 50));
    }
  }

  const working = Promise.all(Array.from({ length: count }, work));
  return {
    done,
    failures,
    givenUp,
    calls,
    open,
    async stop() {
      isStopped = true;
      await working;
    },
  };
}

/** With what every attempt heard: the last one alone may have met another fault. */
export function describeStep({ what, startedAt, refusals }: OpenStep): string {
  const tookMs = Math.round(performance.now() - startedAt);
  return `${what} for ${tookMs} ms: ${refusals.join("; ") || "no response yet"}`;
}

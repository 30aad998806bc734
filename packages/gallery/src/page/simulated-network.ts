import { createSampleImage } from "./sample-files.ts";

/** The state of the page's switches. */
export const network = { failsNext: false };

const stepMs = 120;
const bytesPerSec = 600_000;

/** A backend that says yes to everything, from inside the page. */
export async function simulatedFetch(
  url: unknown,
  init?: { method?: string; body?: unknown },
): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, 150));
  if (String(url).startsWith("/api/files/")) return Response.json({ url: await createSampleImage() });
  if (init?.method !== "POST") return Response.json({ routes: {} });
  const { action, files = [], token = "" } = JSON.parse(String(init.body));
  if (network.failsNext && action === "start") {
    network.failsNext = false;
    const error = { type: "api_error", code: "SIMULATED", message: "Simulated connection failure." };
    return Response.json({ error }, { status: 400 });
  }
  const answers: Record<string, unknown> = {
    begin: { tickets: files.map((file: unknown) => JSON.stringify(file)) },
    start: { token: JSON.parse(String(init.body)).ticket, uploadUrl: "simulated:" },
    complete: { file: describeFile(token), result: null },
    abort: {},
  };
  return Response.json(answers[action] ?? {});
}

function describeFile(token: string): object {
  const { name, size, type } = JSON.parse(token || "{}");
  return {
    id: crypto.randomUUID(),
    key: name,
    name,
    size,
    type,
    url: `https://files.example/${name}`,
    sha256: null,
  };
}

/** Sends nothing, as slowly as a telephone would. */
export class SimulatedRequest {
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null } = { onprogress: null };
  onload: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onabort: (() => void) | null = null;
  status = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  open(): void {}
  setRequestHeader(): void {}
  getResponseHeader(): string {
    return '"simulated"';
  }

  send(body: Blob): void {
    const durationMs = Math.min(9_000, Math.max(3_000, (body.size / bytesPerSec) * 1000));
    let passedMs = 0;
    this.#timer = setInterval(() => {
      passedMs += stepMs;
      this.upload.onprogress?.({ loaded: Math.min(body.size, (body.size * passedMs) / durationMs) });
      if (passedMs < durationMs) return;
      clearInterval(this.#timer);
      this.status = 200;
      this.onload?.();
    }, stepMs);
  }

  abort(): void {
    clearInterval(this.#timer);
    this.onabort?.();
  }
}

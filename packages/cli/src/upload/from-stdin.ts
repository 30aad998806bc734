import type { Readable } from "node:stream";
import type { UploadOptions } from "@upstow/sdk";
import { type Call, OperatorError, type Result, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { clean, formatBytes } from "../format.ts";

const endingSignals = ["SIGINT", "SIGTERM"] as const;

/** Uploads what is piped in. Nobody knows its size before its end, so it goes alone and cannot be resumed. */
export async function uploadStdin(call: Call, options: UploadOptions): Promise<Result> {
  if (call.positionals.length > 1) throw new UsageError("Upload stdin alone: upstow upload - --name NAME");
  if (call.stdin.isTTY === true)
    throw new UsageError("No input is piped in. For example: pg_dump app | upstow upload - --name app.sql");
  const name = call.options.find("name") ?? "stdin";
  const upstow = await connect(call);
  const cancel = new AbortController();
  const stop = () => cancel.abort(new OperatorError("INTERRUPTED", "Stopped. Nothing was stored."));
  for (const signal of endingSignals) call.signals.once(signal, stop);
  const upload = upstow.upload(
    { stream: call.stdin as AsyncIterable<Uint8Array> },
    {
      ...{ ...options, name, signal: cancel.signal },
      onProgress: ({ sentBytes }) => call.progress(`${clean(name)}  ${formatBytes(sentBytes)}`),
    },
  );
  const file = await upload.finally(() => {
    for (const signal of endingSignals) call.signals.off(signal, stop);
    // A read in progress keeps the process alive.
    (call.stdin as Readable).destroy();
    call.progress("");
  });
  call.note(`✔ ${clean(file.name)}  ${file.url}`);
  return {
    json: { files: [{ path: "-", ...file }], failures: [], leftOut: [] },
    text: `Uploaded 1 file, ${formatBytes(file.size)}.`,
  };
}

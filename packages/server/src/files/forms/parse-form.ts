import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { FORM_LIMITS, TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import { AppError, bodyCutOff, invalid } from "../../kernel/errors.ts";

export interface FormFile {
  name: string;
  type: string;
  /** The text fields before it. */
  fields: ReadonlyMap<string, string | string[]>;
  /** To be read to its end, or destroyed. */
  stream: Readable;
}

export interface FormPace {
  windowMs: number;
  leastBytes: number;
}

export const usualPace: FormPace = {
  windowMs: TRANSFER_IDLE_SEC * 1000,
  leastBytes: TRANSFER_IDLE_SEC * TRANSFER_MIN_BYTES_PER_SEC,
};

/**
 * Reads a form as it arrives and hands over its files one after another; the next part is read when the file before it
 * was. Resolves with all text fields.
 */
export async function parseForm(
  request: IncomingMessage,
  onFile: (file: FormFile) => Promise<void>,
  pace: FormPace = usualPace,
): Promise<ReadonlyMap<string, string | string[]>> {
  const parser = createParser(request);
  const fields = new Map<string, string | string[]>();
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const open = new Set<BusboyFileStream>();
  let turn: Promise<void> = Promise.resolve();

  let hasFailed = false;

  function fail(error: Error): void {
    hasFailed = true;
    reject(error);
    for (const stream of open) stream.destroy(error);
    request.unpipe(parser);
  }

  parser.on("field", (name, value, isNameCut, isValueCut) => {
    if (isNameCut || Buffer.byteLength(name) > FORM_LIMITS.nameBytes)
      return fail(invalid("form", `has a field whose name is over ${FORM_LIMITS.nameBytes} bytes`));
    if (isValueCut)
      return fail(invalid("form", `has a field whose value is over ${FORM_LIMITS.valueBytes} bytes`));
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? value : [earlier, value].flat());
  });
  parser.on("file", (_field, stream, name, _encoding, type) => {
    // An input without a choice is sent as a file without a name.
    if (hasFailed || name === undefined || name === "") return void stream.resume();
    open.add(stream);
    stream.once("close", () => open.delete(stream));
    stream.on("error", () => {});
    // Browsers escape only quotes and line breaks, and no percent signs.
    const file = { name: name.replaceAll("%22", '"'), type, stream, fields: new Map(fields) };
    turn = turn.then(() => onFile(file));
    turn.catch(fail);
  });
  parser.on("filesLimit", () => fail(tooMany("files", FORM_LIMITS.files)));
  parser.on("fieldsLimit", () => fail(tooMany("fields", FORM_LIMITS.fields)));
  parser.on("partsLimit", () => fail(tooMany("parts", FORM_LIMITS.files + FORM_LIMITS.fields)));
  parser.on("error", () => fail(invalid("form", "is incomplete multipart/form-data")));
  parser.on("finish", () => void turn.then(resolve, reject));
  const onClose = () => {
    if (!request.complete) fail(bodyCutOff());
  };
  request.on("close", onClose).on("error", onClose);
  const stopWatching = watchPace(request, pace, () => fail(tooSlow()));
  request.pipe(parser);
  try {
    await ended;
    return fields;
  } finally {
    stopWatching();
    // Work in progress ends before the caller responds.
    await turn.catch(() => {});
  }
}

function createParser({ headers }: IncomingMessage) {
  const type = headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type))
    throw invalid(
      "Content-Type",
      "must be multipart/form-data",
      'Give the form enctype="multipart/form-data".',
    );
  try {
    return new Busboy({
      headers: { ...headers, "content-type": type },
      limits: {
        ...{ files: FORM_LIMITS.files, fields: FORM_LIMITS.fields },
        parts: FORM_LIMITS.files + FORM_LIMITS.fields,
        ...{ fieldNameSize: FORM_LIMITS.nameBytes, fieldSize: FORM_LIMITS.valueBytes },
        headerPairs: FORM_LIMITS.headers,
        headerSize: 8 * 1024,
      },
      isPartAFile: (_field, _type, fileName) => fileName !== undefined,
    });
  } catch {
    throw invalid(
      "Content-Type",
      "must include the boundary of the form's parts",
      "Leave the header out, so that the client sets it together with the boundary.",
    );
  }
}

const tooMany = (what: string, most: number) => invalid("form", `has more than ${most} ${what}`);
const tooSlow = () => new AppError("VALIDATION_ERROR", "The form arrived too slowly.", { status: 408 });

/** A form may take hours, but has to keep moving while we are the ones who wait. */
function watchPace(
  request: IncomingMessage,
  { windowMs, leastBytes }: FormPace,
  onSlow: () => void,
): () => void {
  let receivedBytes = 0;
  let heldUp = false;
  request.on("data", (chunk: Buffer) => {
    receivedBytes += chunk.length;
  });
  request.on("pause", () => {
    heldUp = true;
  });
  const timer = setInterval(() => {
    if (!heldUp && receivedBytes < leastBytes) onSlow();
    receivedBytes = 0;
    heldUp = request.isPaused();
  }, windowMs);
  return () => clearInterval(timer);
}

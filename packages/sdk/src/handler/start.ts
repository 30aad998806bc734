import { UpstowError } from "../errors.ts";
import { missingRanges, wholeParts } from "../transfer/send-parts.ts";
import type { StartAnswer } from "./protocol.ts";
import {
  findFile,
  getRoute,
  isNotFound,
  type OpenUpload,
  type Ticket,
  type Tools,
  upstream,
} from "./tools.ts";

const multipartAboveBytes = 10 * 1024 * 1024;

// The service keeps an upload whose parts came in for seven days after the last one.
const uploadLifeMs = 8 * 24 * 60 * 60 * 1000;

export const isInParts = ({ file }: Ticket) => file.size > multipartAboveBytes;

/** Opens the upload of a ticket: an earlier one where that can go on, otherwise a new one. */
export async function startUpload<Context>(
  tools: Tools<Context>,
  ticket: Ticket,
  resume: unknown,
): Promise<StartAnswer> {
  const isMultipart = isInParts(ticket);
  const resumed =
    isMultipart && typeof resume === "string" ? await findResumable(tools, ticket, resume) : null;
  if (resumed !== null) return resumed;
  const { uploads } = tools;
  const { file, metadata, route } = ticket;
  const body = {
    fileName: file.name,
    fileSize: file.size,
    contentType: file.type,
    routeSlug: getRoute(tools.router, route).routeSlug ?? "default",
    ...(metadata === null ? {} : { metadata }),
  };
  // However often a ticket is presented, it opens one upload.
  const options = { idempotencyKey: ticket.id };
  const opened = { route, file, metadata };
  if (!isMultipart) {
    const { fileId, key, uploadUrl } = await upstream(() => uploads.request(body, options));
    return { token: await sealUpload(tools, { ...opened, fileId, key, uploadId: null }), uploadUrl };
  }
  const { fileId, key, uploadId, partSize, parts } = await upstream(() =>
    uploads.multipart.init(body, options),
  );
  const token = await sealUpload(tools, { ...opened, fileId, key, uploadId });
  return { token, partSize, parts, received: [] };
}

/** Null unless the earlier upload was of the same file, on the same route, for the same middleware result. */
async function findResumable<Context>(
  tools: Tools<Context>,
  ticket: Ticket,
  resume: string,
): Promise<StartAnswer | null> {
  const upload = await openEarlier(tools, resume);
  const { fileId, uploadId } = upload ?? {};
  if (upload === null || fileId === undefined || uploadId == null || !isSameUpload(upload, ticket))
    return null;
  const token = await sealUpload(tools, upload);
  try {
    const { multipart } = tools.uploads;
    const { partSize, parts: received } = await upstream(() => multipart.list({ fileId, uploadId }));
    const kept = wholeParts(upload.file.size, partSize, received);
    const has = new Set(kept.map((part) => part.partNumber));
    const missing = missingRanges(upload.file.size, partSize, (partNumber) => has.has(partNumber));
    const partNumbers = missing.map((range) => range.partNumber);
    if (partNumbers.length === 0) return { token, partSize, parts: [], received: kept };
    const { parts } = await upstream(() => multipart.sign({ fileId, uploadId, partNumbers }));
    return { token, partSize, parts, received: kept };
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return (await findFile(tools, upload))?.status === "UPLOADED" ? { token } : null;
}

async function openEarlier<Context>({ seal }: Tools<Context>, token: string): Promise<OpenUpload | null> {
  try {
    return await seal.open<OpenUpload>("upload", token);
  } catch (error) {
    if (error instanceof UpstowError) return null;
    throw error;
  }
}

function isSameUpload(a: Omit<Ticket, "id">, b: Omit<Ticket, "id">): boolean {
  const facts = ({ route, file, metadata }: Omit<Ticket, "id">) =>
    JSON.stringify([route, file.name, file.size, file.type, metadata]);
  return facts(a) === facts(b);
}

function sealUpload<Context>({ seal }: Tools<Context>, upload: OpenUpload): Promise<string> {
  return seal.seal("upload", upload, uploadLifeMs);
}

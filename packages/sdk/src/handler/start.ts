import { settleBatch } from "../api/batch.ts";
import { UpstowError } from "../errors.ts";
import { missingRanges, wholeParts } from "../transfer/send-parts.ts";
import type { Metadata } from "../wire/files.ts";
import type { RequestedUpload, RequestUploadBody } from "../wire/uploads.ts";
import type { StartAnswer } from "./protocol.ts";
import { type FileInfo, invalid } from "./rules.ts";
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

// The service keeps a multipart upload for seven days after its last part.
const uploadLifeMs = 8 * 24 * 60 * 60 * 1000;

export const isInParts = ({ size }: FileInfo) => size > multipartAboveBytes;

/** Opens a ticket's upload: resumes an earlier one if possible, otherwise starts a new one. */
export async function startUpload<Context>(
  tools: Tools<Context>,
  ticket: Ticket,
  resume: unknown,
): Promise<StartAnswer> {
  if (ticket.group !== undefined) throw invalid("ticket", "must be started with its group");
  const isMultipart = isInParts(ticket.file);
  const resumed =
    isMultipart && typeof resume === "string" ? await findResumable(tools, ticket, resume) : null;
  if (resumed !== null) return resumed;
  const { uploads } = tools;
  const body = toRequest(tools, ticket);
  // A ticket opens one upload, however often it is presented.
  const options = { idempotencyKey: ticket.id };
  if (!isMultipart) return toAnswer(tools, ticket, await upstream(() => uploads.request(body, options)));
  const { fileId, key, uploadId, partSize, parts } = await upstream(() =>
    uploads.multipart.init(body, options),
  );
  const { route, file, metadata } = ticket;
  const token = await sealUpload(tools, { route, file, metadata, fileId, key, uploadId });
  return { token, partSize, parts, received: [] };
}

/** Opens the uploads of several small files in one call to the service. */
export async function startUploads<Context>(
  tools: Tools<Context>,
  tickets: Ticket[],
): Promise<(StartAnswer | UpstowError)[]> {
  const [group, ...others] = new Set(tickets.map((ticket) => ticket.group));
  if (group === undefined || others.length > 0) throw invalid("tickets", "must belong to one group");
  if (new Set(tickets.map(({ id }) => id)).size < tickets.length) throw invalid("tickets", "must differ");
  const bodies = tickets.map((ticket) => toRequest(tools, ticket));
  // A group is opened once, however often it is presented, and never with other files. No retries here: files may
  // leave it after a rate limit, so the browser has to know about every attempt that may have been processed.
  const options = { idempotencyKey: group, retries: 0 };
  const requested = await upstream(() => settleBatch(tools.uploads.requestMany(bodies, options), "uploads"));
  return Promise.all(
    tickets.map((ticket, i) => {
      const item = requested[i] as RequestedUpload | UpstowError;
      return item instanceof UpstowError ? item : toAnswer(tools, ticket, item);
    }),
  );
}

function toRequest<Context>(tools: Tools<Context>, { file, metadata, route }: Ticket): RequestUploadBody {
  const { name: fileName, size: fileSize, type: contentType } = file;
  return { fileName, fileSize, contentType, ...toSettings(tools, route, metadata) };
}

/** What a route says about its files on the service. */
export function toSettings<Context>(tools: Tools<Context>, route: string, metadata: Metadata | null) {
  const config = getRoute(tools.router, route);
  const audience = config.audience?.({ metadata });
  return {
    routeSlug: config.routeSlug ?? "default",
    ...(config.access && { access: config.access }),
    ...(audience && { audience }),
    ...(config.expiresIn === null
      ? { expiresAt: null }
      : config.expiresIn !== undefined && { expiresIn: config.expiresIn }),
    // Lets webhooks and lists see a file's route: on the service, most routes share one.
    metadata: { route, ...metadata },
  };
}

async function toAnswer<Context>(
  tools: Tools<Context>,
  { route, file, metadata }: Ticket,
  { fileId, key, uploadUrl }: RequestedUpload,
): Promise<StartAnswer> {
  const upload = { route, file, metadata, fileId, key, uploadId: null };
  return { token: await sealUpload(tools, upload), uploadUrl };
}

/** Null unless the earlier upload had the same file, route and middleware result. */
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

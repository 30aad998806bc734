import type { IncomingMessage } from "node:http";
import type { BlobFiles } from "./blob-files.ts";
import { type BodyWriter, createBodyWriter } from "./body-writer.ts";
import { explainDiskError } from "./disk-errors.ts";
import type { FreeSpace } from "./free-space.ts";
import type { SealedBlob } from "./object-records.ts";
import type { RateWatch } from "./rate-watch.ts";
import { receiveBody } from "./receive-body.ts";
import { bodyCutOff } from "./refusals.ts";

export interface BlobWriter {
  /** Makes a blob of a request's body. A body of any other length leaves nothing behind. */
  writeBody(request: IncomingMessage, sizeBytes: number): Promise<SealedBlob>;
  writeBytes(bytes: Uint8Array): Promise<SealedBlob>;
}

const largestBatch = 512 * 1024;
const smallestBatch = 64 * 1024;
/** For all bodies together; each holds up to two batches. */
const memoryBytes = 64 * 1024 * 1024;

export function createBlobWriter(files: BlobFiles, space: FreeSpace, rate: RateWatch): BlobWriter {
  let active = 0;
  const batchBytes = () => Math.min(largestBatch, Math.max(smallestBatch, memoryBytes / (2 * active)));

  async function write(fill: (writer: BodyWriter) => Promise<void>, sizeBytes: number): Promise<SealedBlob> {
    active++;
    try {
      const temp = await files.openTemp();
      try {
        const writer = createBodyWriter(temp.file, batchBytes, space);
        await fill(writer);
        const content = await writer.finish();
        if (content.sizeBytes !== sizeBytes) throw bodyCutOff();
        return { blob: await files.seal(temp), ...content };
      } catch (error) {
        await files.discardTemp(temp);
        throw error;
      }
    } catch (error) {
      throw explainDiskError(error);
    } finally {
      active--;
    }
  }

  return {
    writeBody: (request, sizeBytes) => write((writer) => receiveBody(request, writer, rate), sizeBytes),
    writeBytes: (bytes) =>
      write(async (writer) => {
        await writer.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      }, bytes.byteLength),
  };
}

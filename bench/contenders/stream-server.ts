// The least that Node can do with files: streams to and from the disk, without a checksum and without fsync.
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";

const [port = "0", directory = "."] = process.argv.slice(2);

// A client that has every byte may leave before the stream has read the end of the file, one read later.
function ignoreDeparture(error: NodeJS.ErrnoException): void {
  const departures = ["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"];
  if (!departures.includes(error.code ?? "")) throw error;
}

createServer(async (request, response) => {
  const path = join(directory, basename(request.url ?? ""));
  if (request.method === "PUT") {
    await pipeline(request, createWriteStream(path));
    response.writeHead(200, { "content-length": 0 }).end();
    return;
  }
  response.writeHead(200, { "content-length": statSync(path).size });
  await pipeline(createReadStream(path), response).catch(ignoreDeparture);
}).listen(Number(port), "127.0.0.1");

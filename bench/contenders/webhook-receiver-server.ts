import { createServer } from "node:https";

/**
 * A customer's endpoint: `/slow…` answers after three seconds, everything else at once. Tells the process that
 * forked it of what has arrived, by and by: a message for each would be half of its work.
 */
const slowMs = 3_000;
const tellEveryMs = 20;

let arrived: { path: string; fileId: string; at: number }[] = [];

function start(certificate: { cert: string; key: string }): void {
  const server = createServer(certificate, (request, response) => {
    const at = performance.timeOrigin + performance.now();
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      arrived.push({ path, fileId: JSON.parse(Buffer.concat(chunks).toString()).file.id, at });
      setTimeout(() => response.end("ok"), path.startsWith("/slow") ? slowMs : 0);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send?.({ address: server.address() }));
  setInterval(() => {
    if (arrived.length > 0) process.send?.({ arrived });
    arrived = [];
  }, tellEveryMs);
}

process.once("message", start);
process.once("disconnect", () => process.exit());

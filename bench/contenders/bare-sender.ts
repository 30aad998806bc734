// The least that Node can do to deliver events: POSTs of a small body over HTTPS, a connection and a handshake each,
// as many at once as the service would send. No queue, no signature, no record.
import { Agent, request } from "node:https";

const [url = "", countText = "0", atOnceText = "1"] = process.argv.slice(2);
const count = Number(countText);
const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 });
let next = 0;

function post(i: number): Promise<void> {
  const body = JSON.stringify({ file: { id: String(i) }, padding: "x".repeat(500) });
  const headers = { "content-type": "application/json", "content-length": body.length };
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume().once("end", resolve);
    });
    sending.once("error", reject).end(body);
  });
}

async function work(): Promise<void> {
  for (let i = next++; i < count; i = next++) await post(i);
}

const startMs = performance.now();
const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: Number(atOnceText) }, work));
const { user, system } = process.cpuUsage(cpuBefore);
const elapsedSec = (performance.now() - startMs) / 1000;
console.log(JSON.stringify({ eventsPerSec: count / elapsedSec, cpuUsPerEvent: (user + system) / count }));

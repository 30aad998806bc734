import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A DNS server that answers a name with the next of its addresses at each question, and with the last from then on. */
export async function startNameServer(names: Record<string, string[]>) {
  const socket = createSocket("udp4").on("message", (message, { address, port }) => {
    const { name, type, end } = readQuestion(message);
    const left = names[name];
    const answer = type === 1 ? ((left?.length ?? 0) > 1 ? left?.shift() : left?.[0]) : undefined;
    const header = Buffer.from([message[0] ?? 0, message[1] ?? 0, 0x81, left === undefined ? 0x83 : 0x80]);
    const counts = Buffer.from([0, 1, 0, answer === undefined ? 0 : 1, 0, 0, 0, 0]);
    const record = Buffer.from([
      0xc0,
      12,
      0,
      1,
      0,
      1,
      0,
      0,
      0,
      0,
      0,
      4,
      ...(answer ?? "").split(".").map(Number),
    ]);
    const records = answer === undefined ? [] : [record];
    socket.send([header, counts, message.subarray(12, end), ...records], port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { server: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

function readQuestion(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { promises as dns } from "node:dns";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { parseCidrList } from "./cidr-list.ts";
import { createOutboundGuard } from "./outbound-guard.ts";
import { createNameResolver, type ResolveName } from "./resolve-name.ts";

const recordTypes = new Map([
  [1, "A"],
  [28, "AAAA"],
]);
const rcodes: Record<string, number> = { unknown: 3, broken: 2 };
const v4 = [93, 184, 216, 34];
const v6 = [0x26, 0x06, 0x47, ...new Array(12).fill(0), 1];

let socket: Socket;
let directory: string;
let resolve: ResolveName;
let asked: string[] = [];
let onAsked = () => {};
/** Answers that the server keeps back. */
let held: (() => void)[] = [];

before(async () => {
  socket = createSocket("udp4").on("message", (message, { address, port }) => {
    const { name, type, end } = readQuestion(message);
    asked.push(`${type} ${name}`);
    const answer = answerTo(name, type);
    const header = Buffer.from([message[0] as number, message[1] as number, 0x81, 0x80 | answer.rcode]);
    const counts = Buffer.from([0, 1, 0, answer.records.length, 0, 0, 0, 0]);
    const send = () =>
      socket.send([header, counts, message.subarray(12, end), ...answer.records], port, address);
    if (name.startsWith("silent")) held.push(send);
    else send();
    onAsked();
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  directory = await mkdtemp(join(tmpdir(), "upstow-names-"));
  const hostsPath = join(directory, "hosts");
  await writeFile(
    hostsPath,
    "# hooks.example 192.0.2.1\n\n192.0.2.2 other.example Hooks.example # both\n2001:db8::2\thooks.example\n",
  );
  resolve = createNameResolver({ servers: [`127.0.0.1:${socket.address().port}`], hostsPath });
});

after(async () => {
  socket.close();
  await rm(directory, { recursive: true });
});

/** Names begin with what the server makes of them. */
function answerTo(name: string, type: string | undefined): { rcode: number; records: Buffer[] } {
  const [kind = ""] = name.split(".");
  if (kind in rcodes) return { rcode: rcodes[kind] as number, records: [] };
  if (type === "AAAA") return { rcode: 0, records: kind === "both" ? [recordOf(28, v6)] : [] };
  return { rcode: 0, records: [recordOf(1, kind === "private" ? [10, 1, 2, 3] : v4)] };
}

function recordOf(type: number, data: number[]): Buffer {
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
}

function readQuestion(message: Buffer): { name: string; type: string | undefined; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] as number; length > 0; length = message[at] as number) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: recordTypes.get(message.readUInt16BE(at + 1)), end: at + 5 };
}

it("finds the addresses of both families, or of one", async () => {
  const ofIpv4 = { address: v4.join("."), family: 4 };
  assert.deepEqual(await resolve("both.example"), [ofIpv4, { address: "2606:4700::1", family: 6 }]);
  assert.deepEqual(await resolve("one.example."), [ofIpv4]);
});

it("tells a name that does not exist from one that got no answer", async () => {
  await assert.rejects(resolve("unknown.example"), { code: "ENOTFOUND", hostname: "unknown.example" });
  await assert.rejects(resolve("broken.example"), { code: "EAI_AGAIN" });
});

it("takes what the hosts file says before it asks anybody", async () => {
  asked = [];
  const written = [
    { address: "192.0.2.2", family: 4 },
    { address: "2001:db8::2", family: 6 },
  ];
  for (const name of ["hooks.example", "HOOKS.example."]) assert.deepEqual(await resolve(name), written);
  assert.deepEqual(asked, []);
});

it("asks for any number of names whose servers keep silent, and holds up no other name", async () => {
  held = [];
  const names = Array.from({ length: 50 }, (_, i) => `silent${i}.example`);
  const allAsked = Promise.withResolvers<void>();
  onAsked = () => held.length === 2 * names.length && allAsked.resolve();
  const silent = Promise.allSettled(names.map(resolve));
  const first = await Promise.race([allAsked.promise.then(() => "asked"), silent.then(() => "given up")]);
  assert.equal(first, "asked");
  const others = Promise.all([resolve("one.example"), dns.lookup("localhost")]).then(() => "answered");
  assert.equal(await Promise.race([others, silent.then(() => "given up")]), "answered");
  for (const send of held) send();
  for (const { status } of await silent) assert.equal(status, "fulfilled");
});

it("gives the guard the addresses to judge", async () => {
  const { checkUrl } = createOutboundGuard({ allow: parseCidrList(""), resolve });
  assert.equal((await checkUrl("https://both.example/")).ok, true);
  for (const host of ["private.example", "hooks.example"])
    assert.match(JSON.stringify(await checkUrl(`https://${host}/`)), /not public/);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { PART_SIZE_BYTES } from "@upstow/contract";
import sharp from "sharp";
import { clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { pickFreePort } from "../../../test/support/free-port.ts";
import type { Database } from "../src/db/database.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import { startSource } from "./support/imports/source.ts";
import {
  type Attempt,
  killedDoors,
  type Outcome,
  type Sent,
  TryAgain,
} from "./support/inspection/killed-doors.ts";
import { envOf, type KeptData, keepData } from "./support/keep-data.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { onBothDatabases, type TestApp } from "./support/start-app.ts";

// bounded: the files of one test
const listFiles = statement((q, _: object) =>
  q.selectFrom("file").select(["id", "name", "key", "status", "scan", "store"]),
);
// bounded: their events
const listEvents = statement((q, _: object) => q.selectFrom("webhook_message").select("file_id"));

const secret = "Jane lives at 48.2082";
const page = Buffer.from("<!DOCTYPE html><script>alert(1)</script>");
const padding = randomBytes(2 * PART_SIZE_BYTES);

type FoundFile = NonNullable<(typeof listFiles)["types"]>["row"];
type Kind = "text" | "virus" | "disguised" | "picture";

function makeSent(kind: Kind, door: string, name: string, picture: Buffer): Sent {
  const whole = { text: Buffer.from(`text ${name}`), virus: eicar, disguised: page, picture }[kind];
  const type = { text: "text/plain", virus: "text/plain", disguised: "image/png", picture: "image/jpeg" }[
    kind
  ];
  // The start says what it is, and the signature of the virus counts anywhere.
  const large = kind === "disguised" ? [whole, padding] : [padding, whole];
  return { name, type, bytes: door === "parts" ? Buffer.concat(large) : whole };
}

/** Stands before the scanner. While it holds scans, they get no verdict. */
async function startScannerRelay(port: number) {
  const state = { holds: false, begun: 0, port: 0 };
  const server = createServer((socket) => {
    const scanner = connect(port, "127.0.0.1");
    let isScan = false;
    socket.on("data", (chunk) => {
      if (!isScan && chunk.includes("zINSTREAM")) {
        isScan = true;
        state.begun++;
      }
      scanner.write(chunk);
    });
    scanner.on("data", (chunk) => {
      if (!(isScan && state.holds)) socket.write(chunk);
    });
    for (const [one, other] of [
      [socket, scanner],
      [scanner, socket],
    ] as const)
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  state.port = (server.address() as AddressInfo).port;
  return { state, close: () => server.close() };
}

const open = ({ reuse: { databaseUrl, dataDir } }: KeptData): Database =>
  databaseUrl === undefined ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(databaseUrl);

onBothDatabases("uploads that are looked at and scanned", (database) => {
  it("lose nothing and let nothing through, killed at any moment", { skip: clamdMissing }, async () => {
    const kept = await keepData(database);
    const clamd = await startClamd();
    const relay = await startScannerRelay(clamd.port);
    const source = await startSource();
    const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
    const picture = await sharp({ create: { width: 60, height: 60, channels: 3, background: "#000", noise } })
      .withExif({ IFD0: { Artist: secret } })
      .jpeg()
      .toBuffer();
    const env = {
      ...(await envOf(kept)),
      UPSTOW_PORT: String(await pickFreePort()),
      UPSTOW_CLAMD: `tcp://127.0.0.1:${relay.state.port}`,
      UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8",
      UPSTOW_RATE_LIMITS: "off",
    };
    const ends = new Map<string, Outcome>();
    const sentBytes = new Map<string, Buffer>();
    let left: { name: string; attempt: Attempt }[] = [];
    let [key, projectId] = ["", ""];
    let running: ServerProcess | null = null;
    const start = async () => {
      running = await spawnServer(env);
      return running;
    };

    async function finish(server: ServerProcess, item: { name: string; attempt: Attempt }): Promise<void> {
      try {
        ends.set(item.name, await item.attempt(server));
      } catch (error) {
        if (server.process.killed) left.push(item);
        else if (error instanceof TryAgain) await wait(100).then(() => finish(server, item));
        else throw error;
      }
    }

    function sendAll(server: ServerProcess, round: number): Promise<void>[] {
      const place = { key, routeSlug: "checked", source };
      const doors = Object.entries(killedDoors(place.routeSlug));
      return doors.flatMap(([door, create]) =>
        (["text", "virus", "disguised", "picture"] as const)
          .filter((kind) => door !== "parts" || kind !== "picture")
          .map((kind) => {
            const sent = makeSent(kind, door, `${kind} ${round} ${door}.bin`, picture);
            sentBytes.set(sent.name, sent.bytes);
            return finish(server, { name: sent.name, attempt: create(sent, place) });
          }),
      );
    }

    /** Whatever state a file is in, nobody reads what its route keeps away. */
    async function readAll(server: ServerProcess): Promise<void> {
      const { status, body } = await server.call("GET", "files?limit=100", { key });
      assert.equal(status, 200);
      for (const file of body.files) {
        const response = await fetch(file.url);
        const bytes = Buffer.from(await response.arrayBuffer());
        if (/^(virus|disguised)/.test(file.name)) assert.equal(response.status, 404, file.name);
        // While no scan ends, what was listed as pending still is.
        if (file.scan === "pending" && relay.state.holds) assert.equal(response.status, 404, file.name);
        assert.ok(!bytes.includes(secret), file.name);
      }
    }

    async function runRound(round: number): Promise<void> {
      const server = await start();
      if (round === 0) {
        ({ live: key, projectId } = server.keys);
        const settings = { scan: true, checkContent: "enforce", stripMetadata: "all" };
        const body = { slug: "checked", ...settings };
        assert.equal((await server.call("POST", `projects/${projectId}/routers`, { key, body })).status, 201);
      }
      const rest = left;
      left = [];
      relay.state.holds = round % 2 === 1;
      const begunBefore = relay.state.begun;
      const work = [...rest.map((item) => finish(server, item)), ...sendAll(server, round)];
      const working = Promise.allSettled(work);
      if (relay.state.holds) {
        // All of them are there, and the first scans have begun.
        await working;
        while (relay.state.begun === begunBefore) await wait(10);
      } else {
        await Promise.race(work);
        await wait(Math.random() * 500);
      }
      if (relay.state.holds || round === 0) await readAll(server);
      server.process.kill("SIGKILL");
      for (const result of await working) if (result.status === "rejected") throw result.reason;
      await server.ended;
    }

    function judge(name: string, end: Outcome, file: FoundFile | undefined): void {
      const isClean = /^(text|picture)/.test(name);
      if (!isClean) assert.notEqual(file?.status, "UPLOADED", name);
      if (end === "unknown") return;
      if (isClean) assert.deepEqual([end, file?.status, file?.scan], ["stored", "UPLOADED", "clean"], name);
      else if (name.startsWith("virus")) assert.equal(file?.scan, "infected", name);
      else assert.deepEqual([end, file?.status], ["rejected", "FAILED"], name);
    }

    async function judgeAll(server: ServerProcess, db: Database): Promise<void> {
      const files = new Map((await db.all(listFiles, {})).map((file) => [file.name, file]));
      const events = Map.groupBy(await db.all(listEvents, {}), ({ file_id }) => file_id);
      for (const [name, end] of ends) {
        const file = files.get(name);
        judge(name, end, file);
        const isThere = file?.status === "UPLOADED";
        assert.equal(events.get(file?.id ?? "")?.length ?? 0, Number(isThere), name);
        if (!isThere) continue;
        const { body } = await server.call("GET", `files/${file.id}`, { key });
        const bytes = Buffer.from(await (await fetch(body.file.url)).arrayBuffer());
        if (name.startsWith("text")) assert.deepEqual(bytes, sentBytes.get(name), name);
        else assert.ok(bytes.length > 1000 && !bytes.includes(secret), name);
      }
      const [{ store = "" } = {}] = files.values();
      const asApp = { app: { deps: { db, store: { name: store } } } } as unknown as TestApp;
      await assertCountersMatch(asApp, projectId);
    }

    try {
      for (let round = 0; round < 4; round++) await runRound(round);
      relay.state.holds = false;
      const server = await start();
      const rest = left;
      left = [];
      for (const item of rest) await finish(server, item);
      const db = open(kept);
      const isPending = async () =>
        (await db.all(listFiles, {})).some((file) => file.status === "UPLOADED" && file.scan === "pending");
      while (await isPending()) await wait(50);
      await readAll(server);
      await judgeAll(server, db);
      await db.close();
    } finally {
      (running as ServerProcess | null)?.process.kill("SIGKILL");
      await (running as ServerProcess | null)?.ended;
      relay.close();
      await source.close();
      await clamd.close();
      await kept.remove();
    }
  });
});

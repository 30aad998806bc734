// The least that a durable upload in three calls takes: a row a call and one fsync for the calls of one moment. No key,
// no rules, no quota, no log, no event.
import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const [port = "0", directory = "."] = process.argv.slice(2);
const database = new DatabaseSync(join(directory, "rows.db"));
database.exec(`
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, size_bytes INTEGER, state TEXT) STRICT;
  CREATE TABLE body (id INTEGER PRIMARY KEY, sha256 TEXT, bytes BLOB) STRICT;
`);
const begin = database.prepare("BEGIN IMMEDIATE");
const commit = database.prepare("COMMIT");
const insertFile = database.prepare("INSERT INTO file (name, size_bytes, state) VALUES (?, ?, 'open')");
const insertBody = database.prepare("INSERT INTO body (id, sha256, bytes) VALUES (?, ?, ?)");
const finishFile = database.prepare("UPDATE file SET state = 'final' WHERE id = ?");

/** Changes rows and returns what to answer. */
type Change = () => object;
let waiting: { change: Change; response: ServerResponse }[] = [];

function commitAll(): void {
  const group = waiting;
  waiting = [];
  begin.run();
  const answers = group.map(({ change }) => JSON.stringify(change()));
  commit.run();
  for (const [i, { response }] of group.entries()) {
    const answer = answers[i] ?? "";
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  }
}

function toChange({ method, url = "" }: IncomingMessage, body: Buffer): Change {
  if (method === "PUT") {
    const [id, sha256] = [Number(url.slice("/u/".length)), hash("sha256", body)];
    return () => {
      insertBody.run(id, sha256, body);
      return { sha256 };
    };
  }
  const wanted = JSON.parse(body.toString()) as { fileName: string; fileSize: number; fileId: string };
  if (!url.endsWith("/upload/request")) return () => ({ changed: finishFile.run(wanted.fileId).changes });
  return () => {
    const fileId = String(insertFile.run(wanted.fileName, wanted.fileSize).lastInsertRowid);
    return { fileId, uploadUrl: `http://127.0.0.1:${port}/u/${fileId}` };
  };
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (waiting.push({ change: toChange(request, Buffer.concat(chunks)), response }) === 1)
      setImmediate(commitAll);
  });
}).listen(Number(port), "127.0.0.1");

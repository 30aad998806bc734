import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, it } from "node:test";
import { createNameResolver } from "../src/kernel/net/resolve-name.ts";
import { importFrom } from "./support/imports/import-client.ts";
import { startNameServer } from "./support/imports/name-server.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createTenantClients } from "./support/upload-life.ts";

type Answering = (socket: Socket) => void;

const text = "the bytes of a file";
const withLength = `Content-Length: ${text.length}\r\n\r\n${text}`;

/** Writes responses byte for byte, as servers do that Node's own never imitates. */
async function startRawSource(host: string, paths: Map<string, Answering>) {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (head) => {
      const [, path = ""] = head.toString("latin1").split(" ");
      const answering = paths.get(path);
      if (answering === undefined) socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
      else answering(socket);
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const say =
  (response: string): Answering =>
  (socket) =>
    void socket.end(Buffer.from(`HTTP/${response}`, "utf8"));
const reset =
  (response: string): Answering =>
  (socket) =>
    void socket.write(`HTTP/${response}`, () => setTimeout(() => socket.resetAndDestroy(), 50));
const redirectTo = (location: string) =>
  say(`1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);

onAnyDatabase("imports from strange servers", (database) => {
  let app: TestApp;
  let names: Awaited<ReturnType<typeof startNameServer>>;
  let source: Awaited<ReturnType<typeof startRawSource>>;
  let sixth: Awaited<ReturnType<typeof startRawSource>>;
  const paths = new Map<string, Answering>([
    ["/ok", say(`1.1 200 OK\r\n${withLength}`)],
    ["/gr%C3%B6%C3%9Fe", say(`1.1 200 OK\r\n${withLength}`)],
    ["/the%20file", say(`1.1 200 OK\r\n${withLength}`)],
  ]);

  before(async () => {
    names = await startNameServer({ "xn--bcher-kva.example": ["127.0.0.1"] });
    source = await startRawSource("127.0.0.1", paths);
    sixth = await startRawSource("::1", paths);
    app = await startApp({
      database,
      env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8,::1/128" },
      imports: {
        ...{ retryMs: 1, idleMs: 2_000, connectMs: 2_000 },
        resolve: createNameResolver({ servers: [names.server], hostsPath: "/dev/null" }),
      },
    });
  });
  after(async () => {
    await app.close();
    names.close();
    source.close();
    sixth.close();
  });

  it("store the whole file", async () => {
    const { client, tenant } = await createTenantClients(app);
    const chunked = `Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${text.length.toString(16)};name=value\r\n${text}\r\n0\r\nX-Sum: 1\r\n\r\n`;
    const answers: [string, Answering][] = [
      ["HTTP/1.0 without a length", say(`1.0 200 OK\r\n\r\n${text}`)],
      ["chunks with extensions and trailers", say(`1.1 200 OK\r\n${chunked}`)],
      ["a connection that is reset after the last byte", reset(`1.1 200 OK\r\n${withLength}`)],
      ["early hints", say(`1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n${withLength}`)],
      ["no reason", say(`1.1 200\r\n${withLength}`)],
      ["identity in capitals", say(`1.1 200 OK\r\nContent-Encoding: Identity\r\n${withLength}`)],
      [
        "an object that was uploaded in signed chunks",
        say(`1.1 200 OK\r\nContent-Encoding: aws-chunked\r\n${withLength}`),
      ],
      ["no encoding, in words", say(`1.1 200 OK\r\nContent-Encoding: none\r\n${withLength}`)],
      ["a charset as its encoding", say(`1.1 200 OK\r\nContent-Encoding: UTF-8\r\n${withLength}`)],
      ["an empty line before it", (socket) => void socket.end(`\r\nHTTP/1.1 200 OK\r\n${withLength}`)],
      ["200 cookies", say(`1.1 200 OK\r\n${"Set-Cookie: a=b\r\n".repeat(200)}${withLength}`)],
      ["a redirect with spaces around and in it", redirectTo("  /the file  ")],
      ["a redirect with backslashes", redirectTo("\\ok")],
      ["a redirect to another query", redirectTo("?signed=1")],
      ["a redirect to a page of a document", redirectTo("/ok#page=2")],
      ["a response that a proxy has changed", say(`1.1 203 Non-Authoritative Information\r\n${withLength}`)],
      ["a redirect in UTF-8", redirectTo("/größe")],
      ["a redirect without a scheme", redirectTo(`//127.0.0.1:${source.port}/ok`)],
      ["a redirect to a name in UTF-8", redirectTo(`http://bücher.example:${source.port}/ok`)],
      [
        "a name of its own",
        say(`1.1 200 OK\r\nContent-Disposition: attachment; filename*=UTF-8''%e2%82%ac.txt\r\n${withLength}`),
      ],
    ];
    for (const [i, [, answer]] of answers.entries()) {
      paths.set(`/whole/${i}`, answer);
      paths.set(`/whole/${i}?signed=1`, say(`1.1 200 OK\r\n${withLength}`));
    }
    const urls: [string, string][] = [
      ...answers.map(([what], i): [string, string] => [what, `http://127.0.0.1:${source.port}/whole/${i}`]),
      ["an IPv6 address", `http://[::1]:${sixth.port}/ok`],
      ["a name in UTF-8", `http://bücher.example:${source.port}/ok`],
    ];
    const files = await Promise.all(urls.map(([, url]) => importFrom(client, url)));
    const bodies = await Promise.all(files.map(async ({ url }) => (await fetch(url)).text()));
    assert.deepEqual(
      files.map(({ failure }, i) => [urls[i]?.[0], failure?.message, bodies[i]]),
      urls.map(([what]) => [what, undefined, text]),
    );
    await assertCountersMatch(app, tenant.projectId, { live: urls.length });
  });

  it("take the type, whatever parameters follow it", async () => {
    const { client } = await createTenantClients(app);
    for (const [stated, type] of [
      ["text/html; charset=utf-8", "text/html; charset=utf-8"],
      ["Image/PNG", "Image/PNG"],
      ["image/png;", "image/png;"],
      ["nonsense", "application/octet-stream"],
      ["text/plain; name=größe", "application/octet-stream"],
      ["", "application/octet-stream"],
    ] as const) {
      paths.set("/typed", say(`1.1 200 OK\r\nContent-Type: ${stated}\r\n${withLength}`));
      const file = await importFrom(client, `http://127.0.0.1:${source.port}/typed`);
      assert.deepEqual([stated, file.status, file.type], [stated, "UPLOADED", type]);
    }
  });

  it("name the file by the end of the path, as it reads decoded", async () => {
    const { client } = await createTenantClients(app);
    for (const [path, name] of [
      ["/o/photos%2F2026%2Fsea.jpg?alt=media", "sea.jpg"],
      ["/..%2f..%5Cetc%2fpasswd", "passwd"],
      ["/%2F", "127.0.0.1"],
      ["/%FF.pdf", "%FF.pdf"],
      ["/report.pdf/", "report.pdf"],
    ] as const) {
      paths.set(path, say(`1.1 200 OK\r\n${withLength}`));
      const file = await importFrom(client, `http://127.0.0.1:${source.port}${path}`);
      assert.deepEqual([path, file.name, await (await fetch(file.url)).text()], [path, name, text]);
    }
  });

  it("fail where the bytes may not be the whole file, or the address is none of ours", async () => {
    const { client, tenant } = await createTenantClients(app);
    const answers: [string, Answering, string][] = [
      ["HTTP/1.0, cut off", reset(`1.0 200 OK\r\n\r\n${text}`), "incomplete"],
      [
        "a range that nobody asked for",
        say(`1.1 206 Partial Content\r\nContent-Range: bytes 0-18/99\r\n${withLength}`),
        "status",
      ],
      ["no content", say("1.1 204 No Content\r\n\r\n"), "status"],
      ["gzip in capitals", say(`1.1 200 OK\r\nContent-Encoding: GZip\r\n${withLength}`), "encoded"],
      ["two encodings", say(`1.1 200 OK\r\nContent-Encoding: identity, br\r\n${withLength}`), "encoded"],
      [
        "gzip on the way",
        say(`1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\n\x1f\b\0\r\n0\r\n\r\n`),
        "encoded",
      ],
      ["a radio stream", (socket) => void socket.end(`ICY 200 OK\r\n${withLength}`), "invalid_response"],
      ["a file that has not changed", say("1.1 304 Not Modified\r\n\r\n"), "status"],
      ["a redirect to nothing", redirectTo(""), "redirect"],
      [
        "lengths of both kinds",
        say(`1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${withLength}`),
        "invalid_response",
      ],
      [
        "a header of 100 KB",
        say(`1.1 200 OK\r\nX: ${"x".repeat(100_000)}\r\n${withLength}`),
        "invalid_response",
      ],
      ["HTTP/2", say(`2 200\r\n${withLength}`), "invalid_response"],
      ["data:", redirectTo("data:text/plain,hello"), "redirect"],
      ["javascript:", redirectTo("javascript:alert(1)"), "redirect"],
      ["ftp:", redirectTo("ftp://127.0.0.1/a"), "redirect"],
      ["credentials", redirectTo(`http://a:b@127.0.0.1:${source.port}/ok`), "redirect"],
      ["half a URL", redirectTo("http://"), "redirect"],
      ["an address in an address", redirectTo("https://[::ffff:169.254.169.254]/"), "address_refused"],
      ["a number", redirectTo("https://2852039166/"), "address_refused"],
      ["an address without a scheme", redirectTo("//10.1.2.3/"), "address_refused"],
    ];
    for (const [i, [, answer]] of answers.entries()) paths.set(`/fails/${i}`, answer);
    const files = await Promise.all(
      answers.map((_, i) => importFrom(client, `http://127.0.0.1:${source.port}/fails/${i}`)),
    );
    assert.deepEqual(
      files.map(({ failure }, i) => [answers[i]?.[0], failure?.reason]),
      answers.map(([what, , reason]) => [what, reason]),
    );
    await assertCountersMatch(app, tenant.projectId);
  });

  it("are refused at once by an address in brackets", async () => {
    const { client } = await createTenantClients(app);
    for (const host of [
      "[::2]",
      "[fe80::1]",
      "[fe80::1%25eth0]",
      "[::ffff:10.0.0.1]",
      "[64:ff9b::a00:1]",
      "[fd00::1]",
    ]) {
      const { status } = await client.post("upload/import", {
        url: `https://${host}/`,
        routeSlug: "default",
      });
      assert.deepEqual([host, status], [host, 400]);
    }
  });
});

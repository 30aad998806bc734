import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import https from "node:https";
import net from "node:net";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ConnectionOptions } from "node:tls";
import { parseCidrList } from "./cidr-list.ts";
import { createOutboundGuard } from "./outbound-guard.ts";

// A pre-shared key gives real TLS without a certificate on disk.
const psk = Buffer.alloc(32, 7);
const tlsOptions = { ciphers: "PSK+HIGH", maxVersion: "TLSv1.2" } as const;

const PUBLIC: LookupAddress = { address: "93.184.216.34", family: 4 };
const LOOPBACK: LookupAddress = { address: "127.0.0.1", family: 4 };

describe("the outbound guard at connect time", () => {
  let connections = 0;
  const server = https.createServer({ ...tlsOptions, pskCallback: () => psk }, (_request, response) => {
    response.end("reached");
  });
  let port = 0;

  before(async () => {
    server.on("connection", () => {
      connections += 1;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    port = address.port;
  });
  beforeEach(() => {
    connections = 0;
  });
  after(async () => {
    server.close();
    await once(server, "close");
  });

  /** Answers the first question with the first list, the second with the second, and so on. */
  function createRebindingGuard(answers: LookupAddress[][], allow = "") {
    const remaining = [...answers];
    return createOutboundGuard({ allow: parseCidrList(allow), resolve: async () => remaining.shift() ?? [] });
  }

  function fetchText(
    url: URL,
    options: https.RequestOptions & { autoSelectFamily?: boolean },
  ): Promise<string> {
    const tlsClient: ConnectionOptions = {
      ...tlsOptions,
      pskCallback: () => ({ psk, identity: "test" }),
      checkServerIdentity: () => undefined,
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    // Ends the request if a broken guard lets it go to an address that never answers.
    const signal = AbortSignal.timeout(60_000);
    const request = https.get(url, { agent: false, signal, ...tlsClient, ...options }, (response) => {
      text(response).then(resolve, reject);
    });
    request.on("error", reject);
    return promise;
  }

  for (const autoSelectFamily of [true, false]) {
    describe(`with autoSelectFamily ${autoSelectFamily}`, () => {
      it("blocks a name that turned private after the check", async () => {
        const { checkUrl, lookup } = createRebindingGuard([[PUBLIC], [LOOPBACK]]);
        const check = await checkUrl(`https://rebind.example:${port}/`);
        assert.ok(check.ok);
        await assert.rejects(fetchText(check.url, { lookup, autoSelectFamily }), { code: "EADDRREFUSED" });
        assert.equal(connections, 0);
      });

      it("blocks a name with one public and one private address, in either order", async () => {
        for (const answer of [
          [LOOPBACK, PUBLIC],
          [PUBLIC, LOOPBACK],
          [LOOPBACK, { address: "2606:4700:4700::1111", family: 6 }],
          [{ address: "::ffff:127.0.0.1", family: 6 }],
        ]) {
          const { lookup } = createRebindingGuard([answer]);
          const url = new URL(`https://mixed.example:${port}/`);
          await assert.rejects(fetchText(url, { lookup, autoSelectFamily }), { code: "EADDRREFUSED" });
        }
        assert.equal(connections, 0);
      });

      it("connects where the operator allows it", async () => {
        const { checkUrl, lookup } = createRebindingGuard([[LOOPBACK], [LOOPBACK]], "127.0.0.0/8");
        for (const host of ["allowed.example", "localhost", "hooks.localhost"]) {
          const check = await checkUrl(`https://${host}:${port}/`);
          assert.ok(check.ok);
          assert.equal(await fetchText(check.url, { lookup, autoSelectFamily }), "reached", host);
        }
        assert.equal(connections, 3);
      });
    });
  }

  it("guards every connection of an agent", async () => {
    const { lookup } = createRebindingGuard([[LOOPBACK]]);
    const agent = new https.Agent({ lookup });
    await assert.rejects(fetchText(new URL(`https://agent.example:${port}/`), { agent }), {
      code: "EADDRREFUSED",
    });
    assert.equal(connections, 0);
    agent.destroy();
  });

  it("is not asked about address literals, which is why checkUrl judges them", async () => {
    const { checkUrl, lookup } = createRebindingGuard([]);
    assert.equal((await checkUrl(`https://127.0.0.1:${port}/`)).ok, false);
    const socket = net.connect({ host: "127.0.0.1", port, lookup });
    await once(socket, "connect");
    socket.destroy();
  });
});

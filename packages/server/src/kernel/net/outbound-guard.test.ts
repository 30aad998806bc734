import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseCidrList } from "./cidr-list.ts";
import { AddressRefused, createOutboundGuard, isPublicAddress } from "./outbound-guard.ts";

const PUBLIC_V4 = "93.184.216.34";
const PUBLIC_V6 = "2606:4700:4700::1111";

describe("checkUrl", () => {
  it("accepts public hosts, addresses and names, and returns the parsed URL", async () => {
    const { checkUrl } = createGuard({ "example.com": [PUBLIC_V4, PUBLIC_V6] });
    for (const host of [
      "example.com:8443",
      "example.com.",
      PUBLIC_V4,
      `[${PUBLIC_V6}]:444`,
      "[64:ff9b::808:808]",
    ]) {
      const check = await checkUrl(`https://${host}/Hooks?a=1#part`);
      assert.ok(check.ok, host);
      assert.equal(check.url.href, `https://${host}/Hooks?a=1`);
    }
  });

  it("refuses what the URL rules refuse before it asks DNS", async () => {
    const { checkUrl, asked } = createGuard({ "example.com": [PUBLIC_V4] });
    for (const raw of ["example.com", "ftp://example.com/", "https://user@example.com/"]) {
      assert.equal((await checkUrl(raw)).ok, false, raw);
    }
    assert.deepEqual(asked, []);
  });

  const disguised = [
    ...["127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f.0.0.1", "0x7f000001", "0X7F.0.0.1", "0177.0.0.1"],
    ...[
      "017700000001",
      "2130706433",
      "127。0。0。1",
      "127．0．0．1",
      "127｡0｡0｡1",
      "１２７.0.0.1",
      "127.0.0.1.",
    ],
    ...["①②⑦.0.0.1", "%31%32%37.0.0.1", "127.0x0.0.01", "127.0.0.1:8443", "0", "0x", "0.0.0.0", "00.0x0.0"],
    ...[
      "0xa9fea9fe",
      "2852039166",
      "0251.0376.0251.0376",
      "169.254.43518",
      "169.254.169.254",
      "0xa.1",
      "012.1",
    ],
    ...["192.168.257", "0xc0a80001", "100.100.100.200", "192.0.0.192", "168.63.129.16", "4294967295"],
    ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:127.0.0.1]"],
    ...[
      "[::ffff:7f00:1]",
      "[::FFFF:A9FE:A9FE]",
      "[::a9fe:a9fe]",
      "[64:ff9b::127.0.0.1]",
      "[64:ff9b::a9fe:a9fe]",
    ],
    ...["[64:ff9b:1::808:808]", "[2002:7f00:1::]", "[2002:808:808::1]", "[2001:0:808:808::1]", "[fe80::1]"],
    ...["[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]"],
  ];
  for (const host of disguised) {
    it(`refuses the address literal ${host}`, async () => {
      const { checkUrl } = createGuard({});
      assert.match(await refusalOf(checkUrl(`https://${host}/`)), /^The address .* is not public\.$/);
    });
  }

  it("judges any IPv4 address alike in every spelling", async () => {
    const { checkUrl } = createGuard({});
    await fc.assert(
      fc.asyncProperty(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255)), async (bytes) => {
        const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
        const hex = value.toString(16).padStart(8, "0");
        const pair = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        const hosts = [
          bytes.join("."),
          bytes.join("。"),
          bytes.map((byte) => `0x${byte.toString(16)}`).join("."),
          bytes.map((byte) => `0${byte.toString(8)}`).join("."),
          `${bytes[0]}.${value % 2 ** 24}`,
          `${value}`,
          `0x${hex}`,
          ...[`[::ffff:${pair}]`, `[::${pair}]`, `[64:ff9b::${pair}]`, `[::ffff:${bytes.join(".")}]`],
        ];
        for (const host of hosts) {
          const { ok } = await checkUrl(`https://${host}/`);
          assert.equal(ok, isPublicAddress(bytes.join(".")), host);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("refuses localhost names without asking DNS", async () => {
    const { checkUrl, asked } = createGuard({ localhost: [PUBLIC_V4], "a.localhost": [PUBLIC_V4] });
    const names = ["localhost", "LocalHost", "localhost.", "a.localhost", "a.b.LOCALHOST.", "localhost:8443"];
    const disguises = ["ⓛocalhost", "loc\u00adalhost", "%6cocalhost", "ｌｏｃａｌｈｏｓｔ", "localhost。"];
    for (const host of [...names, ...disguises]) {
      assert.match(await refusalOf(checkUrl(`https://${host}/`)), /is this machine/, host);
    }
    assert.deepEqual(asked, []);
    assert.equal((await checkUrl("https://notlocalhost/")).ok, true);
    assert.equal((await checkUrl("https://localhost.example/")).ok, true);
  });

  it("refuses a name when any of its addresses is not public, and keeps the address to itself", async () => {
    const names: Record<string, string[]> = {
      "private.example": ["10.1.2.3"],
      "mixed-v4.example": [PUBLIC_V4, "192.168.7.7"],
      "mixed-aaaa.example": [PUBLIC_V4, PUBLIC_V6, "fd12:3456::7"],
      "mixed-a.example": [PUBLIC_V6, "127.0.0.7"],
      "mapped.example": ["::ffff:169.254.169.254"],
      "nat64.example": ["64:ff9b::a9fe:a9fe"],
      "zone.example": ["fe80::7%eth0"],
      "broken.example": ["not-an-address"],
    };
    const { checkUrl } = createGuard(names);
    for (const [name, addresses] of Object.entries(names)) {
      const reason = await refusalOf(checkUrl(`https://${name}/`));
      assert.equal(reason, `The host ${name} resolves to an address that is not public.`);
      for (const address of addresses) assert.ok(!reason.includes(address));
    }
  });

  it("accepts a name that does not resolve", async () => {
    const { checkUrl, asked } = createGuard({ "empty.example": [] });
    assert.equal((await checkUrl("https://missing.example/")).ok, true);
    assert.equal((await checkUrl("https://empty.example./")).ok, true);
    assert.deepEqual(asked, ["missing.example", "empty.example."]);
  });

  it("accepts a name that has not resolved after 3 seconds", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const answer = Promise.withResolvers<LookupAddress[]>();
    const { checkUrl } = createOutboundGuard({ allow: parseCidrList(""), resolve: () => answer.promise });
    let settled = false;
    const check = checkUrl("https://slow.example/").finally(() => {
      settled = true;
    });
    t.mock.timers.tick(2_999);
    await new Promise(setImmediate);
    assert.equal(settled, false);
    t.mock.timers.tick(1);
    await new Promise(setImmediate);
    assert.equal(settled, true);
    assert.equal((await check).ok, true);
    answer.resolve([{ address: "127.0.0.1", family: 4 }]);
  });

  it("lets the operator's list exempt addresses and nothing else", async () => {
    const names = {
      "in.example": ["10.1.2.3"],
      "out.example": ["10.2.0.1"],
      "half.example": ["10.1.0.1", "10.2.0.1"],
    };
    const { checkUrl, isRefusedLiteral } = createGuard(names, "10.1.0.0/16, fd00::/8");
    for (const host of ["in.example", "10.1.0.9", "10.1.9", "[fd00::1]", "[::ffff:10.1.0.9]", PUBLIC_V4]) {
      assert.equal((await checkUrl(`https://${host}:8443/`)).ok, true, host);
    }
    for (const host of [
      "out.example",
      "half.example",
      "10.2.0.1",
      "[fc00::1]",
      "[64:ff9b::10.1.0.9]",
      "localhost",
    ]) {
      assert.equal((await checkUrl(`https://${host}/`)).ok, false, host);
    }
    for (const host of ["10.1.0.9", `[${PUBLIC_V6}]`, "[fd00::1]:8443"])
      assert.equal(isRefusedLiteral(new URL(`https://${host}/`)), false, host);
    for (const host of ["10.2.0.1", "10.2.1", "[fc00::1]", "127.0.0.1:8443"])
      assert.equal(isRefusedLiteral(new URL(`https://${host}/`)), true, host);
    assert.equal(isRefusedLiteral(new URL("https://out.example/")), false, "names are for the lookup");
  });

  it("accepts plain http to addresses in the operator's list, and to no others", async () => {
    const names = {
      "in.example": ["10.1.2.3", "fd00::1"],
      "public.example": [PUBLIC_V4],
      "half.example": ["10.1.2.3", PUBLIC_V4],
      "empty.example": [],
    };
    const { checkUrl, isRefusedLiteral } = createGuard(names, "10.1.0.0/16, fd00::/8, 127.0.0.1");
    for (const host of ["in.example", "10.1.0.9", "10.1.9", "[fd00::1]", "[::ffff:10.1.0.9]", "localhost"]) {
      const check = await checkUrl(`http://${host}:8080/Hooks?a=1#part`);
      assert.ok(check.ok, host);
      assert.equal(check.url.protocol, "http:");
    }
    for (const host of [
      ...["public.example", "half.example", "empty.example", "missing.example"],
      ...["10.2.0.1", PUBLIC_V4, `[${PUBLIC_V6}]`, "[::1]"],
    ]) {
      assert.match(await refusalOf(checkUrl(`http://${host}/`)), /must start with https:\/\//, host);
    }
    assert.match(await refusalOf(checkUrl("http://user@10.1.0.9/")), /user name/);
    assert.equal(isRefusedLiteral(new URL("http://10.1.0.9/")), false);
    for (const host of ["10.2.0.1", PUBLIC_V4, `[${PUBLIC_V6}]`])
      assert.equal(isRefusedLiteral(new URL(`http://${host}/`)), true, host);
  });

  it("refuses plain http to a name that has not resolved after 3 seconds", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { checkUrl } = createOutboundGuard({
      allow: parseCidrList("10.0.0.0/8"),
      resolve: () => new Promise(() => {}),
    });
    const check = checkUrl("http://slow.example/");
    t.mock.timers.tick(3_000);
    assert.equal((await check).ok, false);
  });

  it("lets the operator's list exempt loopback under the name localhost", async () => {
    for (const allow of ["127.0.0.1", "::1", "127.0.0.0/8,::1"]) {
      const { checkUrl } = createGuard({}, allow);
      for (const host of ["localhost", "localhost.", "a.localhost:8443"]) {
        assert.equal((await checkUrl(`https://${host}/`)).ok, true, `${host} with ${allow}`);
      }
    }
    const { checkUrl } = createGuard({}, "127.0.0.2, 10.0.0.0/8");
    assert.equal((await checkUrl("https://localhost/")).ok, false);
  });
});

describe("lookup", () => {
  const v4 = { address: PUBLIC_V4, family: 4 };
  const v6 = { address: PUBLIC_V6, family: 6 };

  it("answers in the form that was asked for", async () => {
    const { lookup } = createGuard({ "example.com": [PUBLIC_V6, PUBLIC_V4] });
    assert.deepEqual(await look(lookup, "example.com", { all: true }), {
      error: null,
      address: [v6, v4],
      family: undefined,
    });
    assert.deepEqual((await look(lookup, "example.com", { all: true, family: 0 })).address, [v6, v4]);
    assert.deepEqual((await look(lookup, "example.com", { all: true, family: 4 })).address, [v4]);
    assert.deepEqual((await look(lookup, "example.com", { all: true, family: "IPv6" })).address, [v6]);
    assert.deepEqual(await look(lookup, "example.com", {}), { error: null, address: PUBLIC_V6, family: 6 });
    assert.deepEqual(await look(lookup, "example.com", { family: 4 }), {
      error: null,
      address: PUBLIC_V4,
      family: 4,
    });
    assert.deepEqual((await look(lookup, "example.com", { family: "IPv4" })).address, PUBLIC_V4);
  });

  it("refuses a host for one bad address, even of a family that was not asked for", async () => {
    const { lookup } = createGuard({ "mixed.example": [PUBLIC_V4, "::1"] });
    for (const options of [{}, { all: true }, { family: 4 }, { all: true, family: 4 as const }]) {
      const { error } = await look(lookup, "mixed.example", options);
      assert.ok(error instanceof AddressRefused);
      assert.equal(error.code, "EADDRREFUSED");
      assert.equal(error.message, "The host mixed.example resolves to an address that is not public.");
    }
  });

  it("gives plain http only addresses of the operator's list", async () => {
    const names = {
      "in.example": ["10.1.2.3"],
      "half.example": ["10.1.2.3", PUBLIC_V4],
      "out.example": [PUBLIC_V4],
    };
    const { plainLookup } = createGuard(names, "10.1.0.0/16");
    assert.deepEqual((await look(plainLookup, "in.example", {})).address, "10.1.2.3");
    for (const host of ["half.example", "out.example", PUBLIC_V4, "localhost"])
      assert.ok((await look(plainLookup, host, { all: true })).error instanceof AddressRefused, host);
  });

  it("uses the system's resolver when it is given none", async () => {
    const { lookup } = createOutboundGuard({ allow: parseCidrList("") });
    // Shorthand that only the system's resolver reads as an address; no name server is needed for it.
    assert.ok((await look(lookup, "2130706433", { all: true })).error instanceof AddressRefused);
    assert.deepEqual(await look(lookup, "16777473", {}), { error: null, address: "1.0.1.1", family: 4 });
  });

  it("refuses literals and localhost names should it be asked for them", async () => {
    const { lookup } = createGuard({});
    for (const host of ["127.0.0.1", "::1", "localhost", "a.localhost."]) {
      assert.ok((await look(lookup, host, { all: true })).error instanceof AddressRefused, host);
    }
    assert.deepEqual((await look(lookup, PUBLIC_V4, { all: true })).address, [v4]);
  });

  it("gives only the allowed loopback addresses for localhost", async () => {
    const { lookup } = createGuard({}, "127.0.0.1");
    assert.deepEqual((await look(lookup, "localhost", { all: true })).address, [
      { address: "127.0.0.1", family: 4 },
    ]);
  });

  it("fails as DNS does when there is no address", async () => {
    const { lookup } = createGuard({ "empty.example": [], "v4.example": [PUBLIC_V4] });
    for (const [host, options] of [
      ["missing.example", {}],
      ["empty.example", { all: true }],
      ["v4.example", { family: 6 }],
    ] as const) {
      const { error } = await look(lookup, host, options);
      assert.ok(error && "code" in error && error.code === "ENOTFOUND", host);
    }
  });
});

type Guard = ReturnType<typeof createOutboundGuard>;

/** A guard over a small DNS of its own that notes which names were asked for. */
function createGuard(names: Record<string, string[]>, allow = ""): Guard & { asked: string[] } {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    const addresses = names[hostname.replace(/\.$/, "")];
    if (!addresses) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { ...createOutboundGuard({ allow: parseCidrList(allow), resolve }), asked };
}

async function refusalOf(check: ReturnType<Guard["checkUrl"]>): Promise<string> {
  const result = await check;
  return result.ok ? `accepted ${result.url.href}` : result.reason;
}

function look(lookup: Guard["lookup"], host: string, options: Parameters<Guard["lookup"]>[1]) {
  return new Promise<{ error: Error | null; address: string | LookupAddress[]; family: number | undefined }>(
    (resolve) => {
      lookup(host, options, (error, address, family) => resolve({ error, address, family }));
    },
  );
}

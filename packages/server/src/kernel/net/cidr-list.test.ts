import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseCidrList } from "./cidr-list.ts";

describe("parseCidrList", () => {
  const cases: [list: string, inside: string[], outside: string[]][] = [
    ["", [], ["127.0.0.1", "::1", "8.8.8.8"]],
    [" , ,", [], ["127.0.0.1", "::1"]],
    ["192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8", "::192.0.2.7"]],
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]],
    ["127.0.0.1/8", ["127.0.0.0", "127.9.9.9"], ["128.0.0.0"]],
    ["192.168.4.0/23", ["192.168.4.0", "192.168.5.255"], ["192.168.3.255", "192.168.6.0"]],
    [
      "0.0.0.0/0",
      ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"],
      ["::", "::1", "2001:db8::1", "::1.2.3.4"],
    ],
    ["::1", ["::1", "0:0:0:0:0:0:0:1", "::0.0.0.1"], ["::", "::2", "0.0.0.1", "127.0.0.1"]],
    ["fd00::/8", ["fd00::", "FDFF:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], ["fc00::", "fe00::"]],
    ["fe80::/10", ["fe80::1", "fe80::1%eth0", "febf::1"], ["fec0::1"]],
    ["2001:db8:4000::/35", ["2001:db8:5fff::1"], ["2001:db8:3fff::1", "2001:db8:6000::"]],
    ["::/0", ["::", "::1", "ffff::", "::10.0.0.1"], ["10.0.0.1", "::ffff:10.0.0.1"]],
    ["::/64", ["::1"], ["10.0.0.1", "::ffff:10.0.0.1"]],
    [" 10.0.0.0/8 ,fd00::/8,\t192.0.2.1\n", ["10.1.1.1", "fd00::1", "192.0.2.1"], ["192.0.2.2"]],
  ];
  for (const [list, inside, outside] of cases) {
    it(`reads ${JSON.stringify(list)}`, () => {
      const { contains } = parseCidrList(list);
      for (const address of inside) assert.equal(contains(address), true, address);
      for (const address of outside) assert.equal(contains(address), false, address);
    });
  }

  it("matches IPv4-mapped addresses and entries as IPv4", () => {
    const plain = parseCidrList("10.0.0.0/8");
    for (const address of ["::ffff:10.1.2.3", "::ffff:a01:203", "0:0:0:0:0:FFFF:0a01:0203"]) {
      assert.equal(plain.contains(address), true, address);
    }
    // Compatible, NAT64 and 6to4 forms are other addresses: only the one on the list is meant.
    for (const address of ["::10.1.2.3", "64:ff9b::10.1.2.3", "2002:a01:203::", "::ffff:11.1.2.3"]) {
      assert.equal(plain.contains(address), false, address);
    }
    const mapped = parseCidrList("::ffff:10.0.0.0/104, ::ffff:192.0.2.1");
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "192.0.2.1"]) {
      assert.equal(mapped.contains(address), true, address);
    }
    for (const address of ["11.1.2.3", "192.0.2.2", "::10.1.2.3"]) {
      assert.equal(mapped.contains(address), false, address);
    }
    assert.equal(parseCidrList("::ffff:0:0/96").contains("203.0.113.9"), true);
  });

  it("holds no text that is not an address", () => {
    const everything = parseCidrList("0.0.0.0/0,::/0");
    for (const text of [
      "",
      " ",
      "localhost",
      "127.1",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "[::1]",
      "10.0.0.0/8",
      "10.0.0.1 ",
    ]) {
      assert.equal(everything.contains(text), false, text);
    }
  });

  const malformed = [
    "localhost",
    "10.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "0x0a.0.0.1",
    "[::1]",
    "fe80::1%eth0",
    "fe80::%eth0/10",
    "::1::",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/+8",
    "10.0.0.0/08",
    "10.0.0.0/8.0",
    "10.0.0.0/ 8",
    "10.0.0.0/1e1",
    "10.0.0.0/255.0.0.0",
    "10.0.0.0/8/8",
    "::/129",
    "::/999",
    "::ffff:10.0.0.0/8",
    "::ffff:10.0.0.0/95",
    "/8",
    "*",
    "10.0.0.0/8;192.0.2.1",
    "10.0.0.0/8 192.0.2.1",
  ];
  for (const entry of malformed) {
    it(`refuses ${JSON.stringify(entry)} by name`, () => {
      assert.throws(
        () => parseCidrList(`127.0.0.1, ${entry}, ::1`),
        (error) => error instanceof Error && error.message.startsWith(`"${entry}" `),
      );
    });
  }

  it("agrees with bit arithmetic at every prefix length", () => {
    const bits = (length: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(length)) - 1n });
    const property = (length: number, format: (value: bigint) => string) =>
      fc.property(bits(length), fc.nat(length), fc.nat(length - 1), (value, prefix, flipped) => {
        const list = parseCidrList(`${format(value)}/${prefix}`);
        assert.equal(list.contains(format(value)), true);
        // Changing one bit leaves the range exactly when that bit belongs to the prefix.
        const other = value ^ (1n << BigInt(length - 1 - flipped));
        assert.equal(list.contains(format(other)), flipped >= prefix);
      });
    fc.assert(property(32, formatIpv4), { numRuns: 1_000 });
    fc.assert(property(128, formatIpv6), { numRuns: 1_000 });
  });
});

function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
}

function formatIpv6(value: bigint): string {
  const hex = value.toString(16).padStart(32, "0");
  return (hex.match(/.{4}/g) ?? []).join(":");
}

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isPublicAddress } from "./outbound-guard.ts";

/** First and last address of every refused IPv4 range, and the nearest public ones around it. */
const ipv4Ranges: [first: string, last: string, publicAround: string[]][] = [
  ["0.0.0.0", "0.255.255.255", ["1.0.0.0"]],
  ["10.0.0.0", "10.255.255.255", ["9.255.255.255", "11.0.0.0"]],
  ["100.64.0.0", "100.127.255.255", ["100.63.255.255", "100.128.0.0"]],
  ["127.0.0.0", "127.255.255.255", ["126.255.255.255", "128.0.0.0"]],
  ["168.63.129.16", "168.63.129.16", ["168.63.129.15", "168.63.129.17"]],
  ["169.254.0.0", "169.254.255.255", ["169.253.255.255", "169.255.0.0"]],
  ["172.16.0.0", "172.31.255.255", ["172.15.255.255", "172.32.0.0"]],
  ["192.0.0.0", "192.0.0.255", ["191.255.255.255", "192.0.1.0"]],
  ["192.0.2.0", "192.0.2.255", ["192.0.1.255", "192.0.3.0"]],
  ["192.88.99.0", "192.88.99.255", ["192.88.98.255", "192.88.100.0"]],
  ["192.168.0.0", "192.168.255.255", ["192.167.255.255", "192.169.0.0"]],
  ["198.18.0.0", "198.19.255.255", ["198.17.255.255", "198.20.0.0"]],
  ["198.51.100.0", "198.51.100.255", ["198.51.99.255", "198.51.101.0"]],
  ["203.0.113.0", "203.0.113.255", ["203.0.112.255", "203.0.114.0"]],
  ["224.0.0.0", "239.255.255.255", ["223.255.255.255"]],
  ["240.0.0.0", "255.255.255.255", ["223.255.255.255"]],
];

/** Every way to write an IPv6 address that stands for the IPv4 address in its last 32 bits. */
const carriers: Record<string, (ipv4: string) => string> = {
  "mapped, dotted": (ipv4) => `::ffff:${ipv4}`,
  "mapped, hexadecimal": (ipv4) => `::ffff:${hexPair(ipv4)}`,
  "mapped, upper case": (ipv4) => `::FFFF:${hexPair(ipv4).toUpperCase()}`,
  "mapped, in full": (ipv4) => `0000:0000:0000:0000:0000:ffff:${hexPair(ipv4)}`,
  "compatible, dotted": (ipv4) => `::${ipv4}`,
  "compatible, hexadecimal": (ipv4) => `::${hexPair(ipv4)}`,
  "compatible, in full": (ipv4) => `0:0:0:0:0:0:${ipv4}`,
  "NAT64, dotted": (ipv4) => `64:ff9b::${ipv4}`,
  "NAT64, hexadecimal": (ipv4) => `64:ff9b::${hexPair(ipv4)}`,
  "NAT64, in full": (ipv4) => `0064:ff9b:0000:0000:0000:0000:${hexPair(ipv4)}`,
};

/** Forms whose IPv4 address may sit elsewhere or be reached through a tunnel: refused whatever they carry. */
const tunnels: Record<string, (ipv4: string) => string> = {
  "local NAT64, /96": (ipv4) => `64:ff9b:1::${ipv4}`,
  "local NAT64, /48": (ipv4) => `64:ff9b:1:${hexPair(ipv4).replace(":", ":0:")}::`,
  "NAT64, neighbouring prefix": (ipv4) => `64:ff9b:0:0:0:1:${ipv4}`,
  "6to4": (ipv4) => `2002:${hexPair(ipv4)}::1`,
  "Teredo, server": (ipv4) => `2001:0:${hexPair(ipv4)}::1`,
  "Teredo, client": (ipv4) => `2001:0:808:808:0:0:${hexPair(complement(ipv4))}`,
  "SIIT translated": (ipv4) => `::ffff:0:${ipv4}`,
};

describe("isPublicAddress", () => {
  for (const [first, last, publicAround] of ipv4Ranges) {
    it(`refuses ${first} to ${last} in every form and nothing beside it`, () => {
      for (const form of [(ipv4: string) => ipv4, ...Object.values(carriers)]) {
        assert.equal(isPublicAddress(form(first)), false, form(first));
        assert.equal(isPublicAddress(form(last)), false, form(last));
        for (const ipv4 of publicAround) assert.equal(isPublicAddress(form(ipv4)), true, form(ipv4));
      }
    });
  }

  it("judges every embedded IPv4 address like the bare one", () => {
    fc.assert(
      fc.property(anyIpv4(), (value) => {
        const ipv4 = formatIpv4(value);
        const expected = isPublicValue(value);
        assert.equal(isPublicAddress(ipv4), expected, ipv4);
        for (const carry of Object.values(carriers))
          assert.equal(isPublicAddress(carry(ipv4)), expected, carry(ipv4));
        for (const carry of Object.values(tunnels))
          assert.equal(isPublicAddress(carry(ipv4)), false, carry(ipv4));
      }),
      { numRuns: 2_000 },
    );
  });

  const refusedIpv6 = [
    "::",
    "::1",
    "::7f00:1",
    "::a9fe:a9fe",
    "::2",
    "64:ff9b::",
    "64:ff9b:1::",
    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
    "64:ff9b:2::808:808",
    "100::1",
    "100:0:0:1::1",
    "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001::",
    "2001:1::1",
    "2001:20::1",
    "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002::",
    "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::",
    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
    "4000::",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fe80::1",
    "fe80::a9fe:a9fe",
    "febf::1",
    "fec0::1",
    "feff::1",
    "ff02::1",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  ];
  for (const address of refusedIpv6) {
    it(`refuses ${address}`, () => assert.equal(isPublicAddress(address), false));
  }

  const publicIpv6 = [
    "2000::",
    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:200::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:4860:4860::8888",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
    "2606:4700:4700::1111",
    "2606:4700:4700:0:0:0:0:1111",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
  ];
  for (const address of publicIpv6) {
    it(`accepts ${address}`, () => assert.equal(isPublicAddress(address), true));
  }

  it("refuses a zone id on any address", () => {
    for (const address of [
      "fe80::1%eth0",
      "fe80::1%1",
      "2606:4700:4700::1111%eth0",
      "::ffff:8.8.8.8%lo",
      "8.8.8.8%lo",
    ]) {
      assert.equal(isPublicAddress(address), false, address);
    }
  });

  it("refuses text in any other notation", () => {
    const notations = [
      ...[
        "",
        " ",
        "example.com",
        "localhost",
        "8.8.8.8 ",
        " 8.8.8.8",
        "8.8.8.8:443",
        "8.8.8.8/32",
        "8.8.8.8.",
      ],
      ...["8.8.2056", "134744072", "0x8.8.8.8", "0x08080808", "010.8.8.8", "8.8.8", "8。8。8。8", "８.8.8.8"],
      ...[
        "[2606:4700:4700::1111]",
        "2606:4700:4700::1111::",
        "::ffff:0x8.8.8.8",
        "::ffff:08.8.8.8",
        "8.8.8.8\0",
      ],
    ];
    for (const text of notations) assert.equal(isPublicAddress(text), false, JSON.stringify(text));
  });
});

/** Uniform addresses hardly ever meet a small range, so half of them lie close to an edge of one. */
function anyIpv4() {
  const edges = ipv4Ranges.flatMap(([first, last]) => [toNumber(first), toNumber(last)]);
  const nearEdge = fc
    .tuple(fc.constantFrom(...edges), fc.integer({ min: -300, max: 300 }))
    .map(([edge, offset]) => Math.min(Math.max(edge + offset, 0), 0xffffffff));
  return fc.oneof(fc.nat(0xffffffff), nearEdge);
}

function isPublicValue(value: number): boolean {
  return !ipv4Ranges.some(([first, last]) => toNumber(first) <= value && value <= toNumber(last));
}

function toNumber(ipv4: string): number {
  return ipv4.split(".").reduce((value, byte) => value * 256 + Number(byte), 0);
}

function formatIpv4(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}

function complement(ipv4: string): string {
  return formatIpv4(0xffffffff - toNumber(ipv4));
}

function hexPair(ipv4: string): string {
  const value = toNumber(ipv4);
  return `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;
}

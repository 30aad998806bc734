import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hostOf, isLocalhostName, parseOutboundUrl } from "./outbound-url.ts";

describe("parseOutboundUrl", () => {
  const accepted: [raw: string, href: string][] = [
    ["https://example.com", "https://example.com/"],
    ["HTTPS://EXAMPLE.COM/Hooks?a=1&b=%20", "https://example.com/Hooks?a=1&b=%20"],
    ["https://example.com:8443/x", "https://example.com:8443/x"],
    ["https://example.com:443/x", "https://example.com/x"],
    ["https://example.com:22/x", "https://example.com:22/x"],
    ["https://example.com./x", "https://example.com./x"],
    ["https://example.com/x?q#part", "https://example.com/x?q"],
    ["https://example.com/#", "https://example.com/"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"],
    ["https://0x7f.1/", "https://127.0.0.1/"],
    ["https://127。0。0。1/", "https://127.0.0.1/"],
    ["https://[::FFFF:127.0.0.1]/", "https://[::ffff:7f00:1]/"],
    [`https://example.com/${"a".repeat(2028)}`, `https://example.com/${"a".repeat(2028)}`],
  ];
  for (const [raw, href] of accepted) {
    it(`reads ${raw.slice(0, 60)}`, () => {
      const parsed = parseOutboundUrl(raw);
      assert.ok(parsed.ok);
      assert.equal(parsed.url.href, href);
    });
  }

  const refused: [reason: RegExp, urls: string[]][] = [
    [
      /^The URL is not valid/,
      [
        ...["", " ", "#part", "/path", "example.com", "//example.com/", "https:", "https://", "https:#part"],
        ...["https://#part", "https://exa mple.com/", "https://example.com:99999/", "https://[::1"],
        ...[
          "https://[fe80::1%25eth0]/",
          "https://[fe80::1%eth0]/",
          "https://1.2.3.4.5/",
          "https://256.0.0.1/",
        ],
        ...["https://[::ffff:0x7f.0.0.1]/", "https://4294967296/", "https://0x100000000/", "https://08.1/"],
      ],
    ],
    [
      /host name .* not valid/,
      [
        ...["https://./", "https://../", "https://.example.com/", "https://a..example.com/"],
        ...["https://127.0.0.1../", "https://localhost../", "https://.localhost/"],
      ],
    ],
    [
      /must start with https/,
      [
        ...[
          "http://example.com/",
          "ftp://example.com/",
          "file:///etc/passwd",
          "javascript:alert(1)",
          "data:,x",
        ],
        ...["ws://example.com/", "wss://example.com/", "blob:https://example.com/1", "gopher://example.com/"],
      ],
    ],
    [
      /user name or a password/,
      [
        ...["https://user@example.com/", "https://user:secret@example.com/", "https://:secret@example.com/"],
        ...["https://example.com@127.0.0.1/", "https://example.com:443@127.0.0.1/"],
      ],
    ],
    [
      /longer than 2048/,
      [
        `https://example.com/${"a".repeat(2029)}`,
        `https://example.com/${"é".repeat(500)}`,
        `http://example.com/#${"a".repeat(2048)}`,
      ],
    ],
  ];
  for (const [reason, urls] of refused) {
    for (const raw of urls) {
      it(`refuses ${raw.slice(0, 60)}`, () => {
        const parsed = parseOutboundUrl(raw);
        assert.ok(!parsed.ok);
        assert.match(parsed.reason, reason);
      });
    }
  }
});

describe("parseOutboundUrl with plain http", () => {
  it("reads http and https, and no other scheme", () => {
    for (const raw of ["http://example.com:8080/x#part", "https://example.com/"]) {
      assert.ok(parseOutboundUrl(raw, { plainHttp: true }).ok, raw);
    }
    for (const raw of [
      "ftp://example.com/",
      "ws://example.com/",
      "file:///etc/passwd",
      "http://u:p@a.example/",
    ])
      assert.ok(!parseOutboundUrl(raw, { plainHttp: true }).ok, raw);
  });
});

describe("hostOf", () => {
  it("takes the brackets off an IPv6 address only", () => {
    assert.equal(hostOf(new URL("https://[2606:4700::1111]:8443/")), "2606:4700::1111");
    assert.equal(hostOf(new URL("https://example.com:8443/")), "example.com");
  });
});

describe("isLocalhostName", () => {
  it("knows the names of RFC 6761 in every case, with and without the root dot", () => {
    for (const name of ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.Localhost."]) {
      assert.equal(isLocalhostName(name), true, name);
    }
    for (const name of ["notlocalhost", "localhost.example", "localhos", "a-localhost", "127.0.0.1"]) {
      assert.equal(isLocalhostName(name), false, name);
    }
  });
});

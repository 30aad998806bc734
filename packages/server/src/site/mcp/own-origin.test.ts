import assert from "node:assert/strict";
import { it } from "node:test";
import { isOwnOrigin } from "../mcp-routes.ts";

const config = {
  publicUrl: "https://files.example.com",
  cdnUrl: "https://cdn.example.com",
  allowedOrigins: ["https://app.example.com"],
};

it("takes callers without an origin by whatever name, and pages of this host or of those that are named", () => {
  for (const [host, origin] of [
    ["upstow:4000", undefined],
    ["", undefined],
    ["upstow:4000", "https://files.example.com"],
    ["files.example.com:443", "https://files.example.com"],
    ["Files.Example.com", "http://files.example.com"],
    ["files.example.com", "https://app.example.com"],
    ["localhost:4000", "http://localhost:4000"],
    ["[::1]:4000", "http://[::1]:4000"],
  ] as const)
    assert.equal(isOwnOrigin(config, host, origin), true, `${host} ${origin}`);
});

it("refuses other pages, under a rebound name too", () => {
  for (const [host, origin] of [
    ["files.example.com", "https://evil.example"],
    ["evil.example:4000", "http://evil.example:4000"],
    ["localhost:4000", "null"],
    ["localhost:4000", "http://localhost.evil.example:4000"],
    ["", "http://localhost:4000"],
  ] as const)
    assert.equal(isOwnOrigin(config, host, origin), false, `${host} ${origin}`);
});

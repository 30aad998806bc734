import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { it } from "node:test";
import { parseCidrList } from "../kernel/net/cidr-list.ts";
import { createConnectionLimit } from "./connections.ts";

const from = (remoteAddress: string | undefined) =>
  Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket;

function createLimit(perAddress: number, countsLoopback = false, trusted = "") {
  const refused: string[] = [];
  const admit = createConnectionLimit({ perAddress, countsLoopback }, parseCidrList(trusted), (address) =>
    refused.push(address),
  );
  return { admit, refused };
}

it("counts each address of its own, and a whole /64 of IPv6 as one", () => {
  const { admit, refused } = createLimit(2);
  for (const address of ["203.0.113.1", "203.0.113.2", "2001:db8::1"]) {
    assert.equal(admit(from(address)), true);
    assert.equal(admit(from(address)), true);
    assert.equal(admit(from(address)), false);
  }
  assert.equal(admit(from("2001:db8::ffff")), false);
  assert.equal(admit(from("2001:db8:0:1::1")), true);
  assert.deepEqual(refused, ["203.0.113.1", "203.0.113.2", "2001:db8:0:0::/64", "2001:db8:0:0::/64"]);
});

it("gives a place back when a connection closes, and none for one that was refused", () => {
  const { admit } = createLimit(1);
  const first = from("203.0.113.1");
  assert.equal(admit(first), true);
  const second = from("203.0.113.1");
  assert.equal(admit(second), false);
  second.emit("close");
  assert.equal(admit(from("203.0.113.1")), false);
  first.emit("close");
  assert.equal(admit(from("203.0.113.1")), true);
});

it("counts loopback only where it is told to, and trusted proxies never", () => {
  for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
    const lenient = createLimit(1).admit;
    const strict = createLimit(1, true).admit;
    const trusting = createLimit(1, true, "127.0.0.1, ::1").admit;
    assert.deepEqual([lenient(from(address)), lenient(from(address))], [true, true]);
    assert.deepEqual([strict(from(address)), strict(from(address))], [true, false]);
    assert.deepEqual([trusting(from(address)), trusting(from(address))], [true, true]);
  }
});

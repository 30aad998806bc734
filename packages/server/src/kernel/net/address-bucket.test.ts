import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressGroup, addressNetwork } from "./cidr-list.ts";

describe("the bucket of an address", () => {
  it("is the address itself for IPv4, mapped or not", () => {
    assert.equal(addressGroup("192.0.2.7"), "192.0.2.7");
    assert.equal(addressGroup("::ffff:192.0.2.7"), "::ffff:192.0.2.7");
  });

  it("is the /64 for IPv6, however it is written", () => {
    const expected = "2001:db8:0:1::/64";
    for (const address of [
      "2001:db8:0:1::5",
      "2001:0db8:0000:0001:a:b:c:d",
      "2001:DB8:0:1:ffff::",
      "2001:db8:0:1::%eth0",
    ]) {
      assert.equal(addressGroup(address), expected, address);
    }
    assert.equal(addressGroup("::1"), "0:0:0:0::/64");
    assert.notEqual(addressGroup("2001:db8:0:2::5"), expected);
  });

  it("lies in a network: the /48 for IPv6, the /24 for IPv4", () => {
    for (const address of ["2001:db8:7:1::5", "2001:DB8:0007:ffff:a:b:c:d"])
      assert.equal(addressNetwork(address), "2001:db8:7::/48");
    assert.equal(addressNetwork("::1"), "0:0:0::/48");
    for (const address of ["192.0.2.7", "::ffff:192.0.2.8"])
      assert.equal(addressNetwork(address), "192.0.2.0/24");
  });
});

import { after, afterEach, before } from "node:test";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { createBucketEnv, type S3Server } from "./s3-server.ts";
import { startSwift } from "./swift.ts";

/** An S3 server for the tests of the suite that calls this, and a proxy in front that breaks things on demand. */
export function setUpFaultyS3() {
  let server: S3Server;
  let proxy: FaultProxy;
  before(async () => {
    server = await startSwift();
    proxy = await startFaultProxy(server.endpoint);
  });
  afterEach(() => proxy.setFaults(() => null));
  after(async () => {
    await proxy?.close();
    await server?.stop();
  });
  return {
    get server() {
      return server;
    },
    get proxy() {
      return proxy;
    },
    /** For a service that goes through the proxy to a new bucket. */
    createEnv: () => createBucketEnv(server, proxy),
  };
}

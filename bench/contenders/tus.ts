import { needPackage } from "./bench-packages.ts";
import { type NodeServer, startNodeServer } from "./node-server.ts";

const path = "/files";

/** @tus/server with its file store, as its README sets it up. */
export async function startTus(folder: string): Promise<NodeServer & { path: string }> {
  needPackage("@tus/server");
  return { ...(await startNodeServer(folder, "tus-server", path)), path };
}

import type { Server } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import { readTlsFiles, type TlsConfig } from "../config/tls.ts";
import { replaceCertificate } from "./listener.ts";

/**
 * Looks whether the files hold another certificate by now, and serves it: they are renewed every few weeks, and nobody
 * restarts the service for it. What cannot be served, such as a new certificate whose key is still on its way, throws
 * and leaves the former one in place.
 */
export function createCertificateRenewal(
  server: Server,
  first: TlsConfig,
  log: FastifyBaseLogger,
): () => Promise<void> {
  let served = first;
  return async () => {
    const found = readTlsFiles(first.certPath, first.keyPath);
    if (found.cert === served.cert && found.key === served.key) return;
    replaceCertificate(server, found);
    served = found;
    log.info("the certificate was renewed; new connections get the new one");
  };
}

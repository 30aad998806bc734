import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface SelfSigned {
  certPath: string;
  keyPath: string;
  /** For a client's `ca`. */
  cert: string;
  remove(): Promise<void>;
}

/** A certificate for localhost and 127.0.0.1. Node can check certificates but not make them. */
export async function createSelfSigned(): Promise<SelfSigned> {
  const dir = await mkdtemp(join(tmpdir(), "upstow-tls-"));
  const [keyPath, certPath] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", keyPath, "-out", certPath, "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost,DNS:files.example.com,IP:127.0.0.1"],
  ]);
  return {
    certPath,
    keyPath,
    cert: await readFile(certPath, "utf8"),
    remove: () => rm(dir, { recursive: true }),
  };
}

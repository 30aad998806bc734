import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { promisify } from "node:util";

export interface Certificate {
  cert: string;
  key: string;
}

const execute = promisify(execFile);

/** A certificate for 127.0.0.1 and the names given, signed by itself. */
export async function createCertificate(names: string[] = []): Promise<Certificate> {
  const dir = await mkdtemp(join(tmpdir(), "upstow-certificate-"));
  const alternatives = ["IP:127.0.0.1", ...names.map((name) => `DNS:${name}`)].join(",");
  try {
    await execute("openssl", [
      ...[
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
      ],
      ...["-subj", "/CN=receiver", "-addext", `subjectAltName=${alternatives}`],
      ...["-keyout", join(dir, "key.pem"), "-out", join(dir, "cert.pem")],
    ]);
    return {
      cert: await readFile(join(dir, "cert.pem"), "utf8"),
      key: await readFile(join(dir, "key.pem"), "utf8"),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What NODE_EXTRA_CA_CERTS does for an operator, done after the process has started. */
export function trustCertificate({ cert }: Certificate): void {
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), cert]);
}

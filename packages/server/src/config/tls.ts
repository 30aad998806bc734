import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigError } from "./values.ts";

export interface TlsConfig {
  certPath: string;
  keyPath: string;
  /** PEM texts. */
  cert: string;
  key: string;
}

export function readTls(certPath: string | null, keyPath: string | null): TlsConfig | null {
  if (certPath === null && keyPath === null) return null;
  if (certPath === null) throw new ConfigError("UPSTOW_TLS_CERT must be set when UPSTOW_TLS_KEY is");
  if (keyPath === null) throw new ConfigError("UPSTOW_TLS_KEY must be set when UPSTOW_TLS_CERT is");
  return readTlsFiles(certPath, keyPath);
}

export function readTlsFiles(certPath: string, keyPath: string): TlsConfig {
  const cert = readPem("UPSTOW_TLS_CERT", certPath, (pem) => void new X509Certificate(pem));
  const key = readPem("UPSTOW_TLS_KEY", keyPath, (pem) => void createPrivateKey(pem));
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new ConfigError("UPSTOW_TLS_KEY does not match the certificate in UPSTOW_TLS_CERT");
  }
  return { certPath, keyPath, cert, key };
}

function readPem(name: string, path: string, check: (pem: string) => void): string {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name} is a file that cannot be read (${code}): ${path}`);
  }
  try {
    check(pem);
    return pem;
  } catch {
    throw new ConfigError(`${name} must be a PEM file with the expected contents: ${path}`);
  }
}

import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { Config } from "../../config.ts";
import { isLoopbackHost } from "../../kernel/net/listen-address.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("TLS");

const dayMs = 86_400_000;
const soonDays = 21;

export function checkTls(config: Config, now: number): Check[] {
  if (config.tls === null) return [];
  const { hostname } = new URL(config.publicUrl);
  try {
    const certificate = new X509Certificate(config.tls.cert);
    if (!certificate.checkPrivateKey(createPrivateKey(config.tls.key))) {
      return [
        failed(
          "Key and certificate do not belong together.",
          "Set UPSTOW_TLS_KEY to the certificate's own key.",
        ),
      ];
    }
    return [checkDates(certificate, now), ...checkName(certificate, hostname)];
  } catch (error) {
    const message = `Key or certificate cannot be read: ${(error as Error).message}.`;
    return [
      failed(message, "Set UPSTOW_TLS_CERT and UPSTOW_TLS_KEY to PEM files, the key without a passphrase."),
    ];
  }
}

function checkDates(certificate: X509Certificate, now: number): Check {
  const { validFromDate, validToDate } = certificate;
  const fix = "Renew the certificate; the service takes up the new files by itself.";
  if (now < validFromDate.getTime()) {
    return failed(
      `The certificate is not valid before ${validFromDate.toISOString()}.`,
      "Check this machine's clock.",
    );
  }
  const daysLeft = Math.floor((validToDate.getTime() - now) / dayMs);
  if (now >= validToDate.getTime())
    return failed(`The certificate expired on ${validToDate.toISOString()}.`, fix);
  if (daysLeft < soonDays) return warning(`The certificate expires in ${daysLeft} days.`, fix);
  return ok(`key and certificate fit, valid for ${daysLeft} more days`);
}

function checkName(certificate: X509Certificate, hostname: string): Check[] {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  const found = isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  if (found !== undefined || isLoopbackHost(hostname)) return [];
  return [
    failed(`The certificate does not name ${name}.`, "Use one that names the host of UPSTOW_PUBLIC_URL."),
  ];
}

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { describe, it } from "node:test";
import { readConfig } from "../../config.ts";
import { checkTls } from "./check-urls.ts";

/** Made for this test; it names files.example.com. */
const cert = `-----BEGIN CERTIFICATE-----
MIIBqzCCAVGgAwIBAgIUUUkKR/+YQU2kEsYuJqoAhUFSVdcwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRZmlsZXMuZXhhbXBsZS5jb20wHhcNMjYxMTE1MDMxNjA5WhcN
MzYxMTEyMDMxNjA5WjAcMRowGAYDVQQDDBFmaWxlcy5leGFtcGxlLmNvbTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABPTMvv9dGYTKMvHyhsOpG7bxlIKBJmW48v2b
MZ+oDizxQXfQOVX5L5G/vGRwJBx9CkZqLUDc0Gfca1MQFSEjAv2jcTBvMB0GA1Ud
DgQWBBRH519xqTHEcXaqFaDuftKqxLB4AjAfBgNVHSMEGDAWgBRH519xqTHEcXaq
FaDuftKqxLB4AjAPBgNVHRMBAf8EBTADAQH/MBwGA1UdEQQVMBOCEWZpbGVzLmV4
YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIEtW/+D0puY/8MsI1qXp+awCkVLO
UtcBwSeTx9JJ0tisAiEAmmFn/fAZ0BvqruU4nIqClbYEoxmApCfjDWTh3eBPqmI=
-----END CERTIFICATE-----`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcjFom2mKjBT0IHe6
I3Tq+mbR37QJvJ4sSt0AZEup9OehRANCAAT0zL7/XRmEyjLx8obDqRu28ZSCgSZl
uPL9mzGfqA4s8UF30DlV+S+Rv7xkcCQcfQpGai1A3NBn3GtTEBUhIwL9
-----END PRIVATE KEY-----`;
const otherKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkrVUZq9LtXzUJiVB
2e6Lxrz10TS63HDR4YaCBXfIVWShRANCAAQxWANcXH3qn/lkVIwQX7QeX61p+Crf
GD8hSkMrAd7ubZvIKJ2kmK9HCrWCcAm+FyjXU+6xXIumd8fJykkBgXrY
-----END PRIVATE KEY-----`;

const dayMs = 86_400_000;
const { validFromDate, validToDate } = new X509Certificate(cert);

describe("TLS check", () => {
  const check = (keyPem: string, now: number, host = "files.example.com") => {
    const config = readConfig({ UPSTOW_PUBLIC_URL: `https://${host}` });
    const tls = { certPath: "cert.pem", keyPath: "key.pem", cert, key: keyPem };
    const checks = checkTls({ ...config, tls }, now);
    return checks.map(({ status, message }) => `${status}: ${message}`).join("\n");
  };
  const soon = validFromDate.getTime() + dayMs;

  it("passes a certificate that fits, and has nothing to say without one", () => {
    assert.match(check(key, soon), /^ok: key and certificate match, valid for \d+ more days$/);
    assert.equal(check(key, soon, "localhost"), check(key, soon));
    assert.deepEqual(checkTls(readConfig({}), soon), []);
  });

  it("sees another key, other names, broken files and the end of its time", () => {
    assert.match(check(otherKey, soon), /^failed: .*do not match/);
    assert.match(check(key, soon, "other.example.com"), /\nfailed: .*does not cover other.example.com/);
    assert.match(check("-----BEGIN nothing", soon), /^failed: .*cannot be read/);
    assert.match(check(key, validFromDate.getTime() - 1000), /^failed: .*not valid before/);
    assert.match(check(key, validToDate.getTime() - 5.5 * dayMs), /^warning: .*expires in 5 days/);
    assert.match(check(key, validToDate.getTime()), /^failed: .*expired on/);
  });
});

import type { Config } from "../../config.ts";
import { type Check, createChecks } from "./check.ts";

const { warning, failed } = createChecks("trusted proxies");

/** Addresses far apart on the internet: a list that contains all of them trusts everyone. */
const strangers = ["8.8.8.8", "93.184.216.34", "203.0.113.77", "2001:4860:4860::8888"];
const usualProxies = ["127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "172.17.0.1", "192.168.0.1", "fd00::1"];

export function checkProxies({ trustedProxies, publicUrl, tls }: Config): Check[] {
  if (strangers.some((address) => trustedProxies.contains(address))) {
    return [
      failed(
        "UPSTOW_TRUSTED_PROXIES lists addresses of strangers, who can then pretend to be anyone.",
        "List only the addresses of your own proxies.",
      ),
    ];
  }
  const needsProxy = publicUrl.startsWith("https:") && tls === null;
  if (needsProxy && !usualProxies.some((address) => trustedProxies.contains(address))) {
    return [
      warning(
        "UPSTOW_PUBLIC_URL is https and this process has no certificate, so a proxy must stand in front.",
        "Make sure that UPSTOW_TRUSTED_PROXIES lists its address; requests through it are refused otherwise.",
      ),
    ];
  }
  return [];
}

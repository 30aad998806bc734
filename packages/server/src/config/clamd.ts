import type { NetConnectOpts } from "node:net";
import { CLAMD_MAX_BYTES } from "@upstow/contract";
import { ConfigError, type ReadValue, wholeNumber } from "./values.ts";

/** A daemon of ClamAV. */
export interface ClamdConfig {
  address: Extract<NetConnectOpts, { path: string }> | { host: string; port: number };
  /** Larger files are not sent to it. */
  maxBytes: number;
}

const usualPort = 3310;
/** The most that it takes, however it is configured. */
const mostBytes = 2 ** 31 - 1;

export function readClamd(read: ReadValue): ClamdConfig | null {
  const address = read<ClamdConfig["address"] | null>("UPSTOW_CLAMD", null, clamdAddress);
  const maxBytes = read<number | null>("UPSTOW_CLAMD_MAX_BYTES", null, wholeNumber(1, mostBytes));
  if (address !== null) return { address, maxBytes: maxBytes ?? CLAMD_MAX_BYTES };
  if (maxBytes !== null) throw new ConfigError("UPSTOW_CLAMD must be set when UPSTOW_CLAMD_MAX_BYTES is");
  return null;
}

function clamdAddress(value: string): ClamdConfig["address"] {
  if (value.startsWith("/")) return { path: value };
  const url = URL.canParse(value) ? new URL(value) : null;
  const isBare = url !== null && [url.username, url.pathname, url.search, url.hash].join("") === "";
  if (url?.protocol !== "tcp:" || url.hostname === "" || !isBare)
    throw new Error(`must be tcp://host:port or the path of a socket, not "${value}"`);
  return { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port || usualPort) };
}

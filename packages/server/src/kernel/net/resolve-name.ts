import type { LookupAddress } from "node:dns";
import { promises as dns } from "node:dns";
import { readFileSync } from "node:fs";

export type ResolveName = (hostname: string) => Promise<LookupAddress[]>;

interface MachineSettings {
  resolver: dns.Resolver;
  hosts: Map<string, LookupAddress[]>;
}

interface ResolverOptions {
  /** Default: the machine's own. */
  servers?: string[];
  hostsPath?: string;
}

/** The machine's name servers and hosts may change under a process that runs for months. */
const renewAfterMs = 5_000;
const patience = { timeout: 3_000, tries: 2 };

/**
 * For user-supplied names. The system's own resolver handles two at a time for the whole process, so names whose
 * servers do not respond would block every other name: other users' webhooks, the bucket, the database. These are
 * resolved concurrently, without a thread, after checking the hosts file like the system would.
 */
export function createNameResolver({ servers, hostsPath = "/etc/hosts" }: ResolverOptions = {}): ResolveName {
  let settings: MachineSettings | null = null;
  let readAt = 0;

  function getSettings(): MachineSettings {
    const now = performance.now();
    if (settings !== null && now - readAt < renewAfterMs) return settings;
    const resolver = new dns.Resolver(patience);
    if (servers) resolver.setServers(servers);
    settings = { resolver, hosts: readHosts(hostsPath) };
    readAt = now;
    return settings;
  }

  return async (hostname) => {
    // A name in the operator's own network, whose search list only the system knows. No user's name server is queried.
    if (!hostname.includes(".")) return dns.lookup(hostname, { all: true, order: "verbatim" });
    const { resolver, hosts } = getSettings();
    return hosts.get(hostname.toLowerCase().replace(/\.$/, "")) ?? askServers(resolver, hostname);
  };
}

export const resolveName = createNameResolver();

async function askServers(resolver: dns.Resolver, hostname: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = answers.flatMap((answer, i) =>
    answer.status === "fulfilled"
      ? answer.value.map((address) => ({ address, family: i === 0 ? 4 : 6 }))
      : [],
  );
  if (addresses.length > 0) return addresses;
  const isUnknown = answers.every(
    (answer) => answer.status === "rejected" && ["ENOTFOUND", "ENODATA"].includes(answer.reason.code),
  );
  throw Object.assign(new Error(`the name ${hostname} does not resolve`), {
    code: isUnknown ? "ENOTFOUND" : "EAI_AGAIN",
    hostname,
  });
}

function readHosts(path: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of readOrNothing(path).split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/);
    const family = address.includes(":") ? 6 : 4;
    for (const name of names) hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  return hosts;
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

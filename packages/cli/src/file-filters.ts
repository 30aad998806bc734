import type { FileQuery } from "@upstow/sdk";
import { type OptionSpec, type Options, UsageError } from "./command.ts";
import { readChoice } from "./option-values.ts";

const accessLevels = ["public", "private"] as const;
const statuses = ["uploading", "uploaded", "failed", "deleted"] as const;

export const filterOptions: Record<string, OptionSpec> = {
  status: { value: "S", description: "uploading, uploaded, failed or deleted (in the trash)" },
  type: { value: "TYPE", description: "a MIME type, or a family such as image/*" },
  route: { value: "SLUG", description: "uploaded through this file route" },
  access: { value: "A", description: "public or private" },
  name: { value: "TEXT", description: "part of the name, case-insensitive" },
  prefix: { value: "P", description: "start of the key, after the project ID" },
  since: {
    value: "TIME",
    description: "created at or after this time, such as 2026-11-17T08:00:00Z or 2026-11-17",
  },
  until: { value: "TIME", description: "created before this time" },
  metadata: {
    value: "KEY=VALUE",
    description: "a top-level metadata key and its value; up to 5 times",
    isRepeated: true,
  },
};

export function readFilters(options: Options): FileQuery {
  const status = options.find("status");
  const access = options.find("access");
  const metadata = options.all("metadata").map(readPair);
  const query = {
    status: status && readChoice("--status", status, statuses).toUpperCase(),
    type: options.find("type"),
    routeSlug: options.find("route"),
    access: access && readChoice("--access", access, accessLevels),
    name: options.find("name"),
    prefix: options.find("prefix"),
    since: readTime("since", options),
    until: readTime("until", options),
    metadata: metadata.length === 0 ? undefined : Object.fromEntries(metadata),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}

function readPair(text: string): [string, string] {
  const at = text.indexOf("=");
  if (at === -1) throw new UsageError(`--metadata must be a key and a value such as user=42, not "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** A date without a time means midnight UTC. */
function readTime(name: string, options: Options): string | undefined {
  const text = options.find(name);
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new UsageError(`--${name} must be a time such as 2026-11-17T08:00:00Z or 2026-11-17, not "${text}".`);
}

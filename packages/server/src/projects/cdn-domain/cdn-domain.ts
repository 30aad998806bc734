import { UniqueViolation } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { invalid, notFound } from "../../kernel/errors.ts";
import { isLoopbackHost } from "../../kernel/net/loopback.ts";
import { parseOutboundUrl } from "../../kernel/net/outbound-url.ts";
import { writeLog } from "../logs/write-log.ts";
import { findDomainProblem } from "./check-domain.ts";
import { findCdnUrl, setCdnUrl } from "./queries.ts";

type DomainDeps = Pick<Deps, "config" | "customHosts" | "db" | "keyring" | "webhookGuard" | "now">;

/**
 * From now on the URLs of the project's files and variants begin with the domain, which serves nothing else. Earlier
 * URLs keep working: the installation's own hosts serve every file.
 */
export async function setCdnDomain(deps: DomainDeps, projectId: string, domain: string): Promise<string> {
  const cdnUrl = parseDomain(deps, domain);
  const problem = await findDomainProblem(deps, cdnUrl);
  if (problem !== null) throw invalid("domain", `cannot be used: ${problem}`);
  await save(deps, projectId, cdnUrl, `Files are given out at ${cdnUrl} from now on.`);
  return cdnUrl;
}

export async function removeCdnDomain(deps: DomainDeps, projectId: string): Promise<void> {
  const former = await getCdnUrl(deps, projectId);
  await save(deps, projectId, null, `Files are no longer given out at ${former}.`);
}

/** What is wrong with the domain that is set, in a sentence or two; null where nothing is. */
export async function checkCdnDomain(deps: DomainDeps, projectId: string): Promise<string | null> {
  return findDomainProblem(deps, await getCdnUrl(deps, projectId));
}

function parseDomain({ config }: DomainDeps, domain: string): string {
  const text = domain.trim();
  const parsed = parseOutboundUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (!parsed.ok) throw invalid("domain", parsed.reason);
  const { origin, hostname, host, pathname, search } = parsed.url;
  if (pathname !== "/" || search !== "") throw invalid("domain", "must be a name alone, without a path");
  const isOwn = [config.publicUrl, config.cdnUrl]
    .map((address) => new URL(address))
    .some((own) => own.host === host || (own.hostname === hostname && !isLoopbackHost(hostname)));
  if (isOwn)
    throw invalid("domain", "is the installation's own host, which serves the files of all projects");
  return origin;
}

async function getCdnUrl({ db }: DomainDeps, projectId: string): Promise<string> {
  const project = await db.get(findCdnUrl, { projectId });
  if (project === null || project.cdnUrl === null) throw notFound("A domain of this project was");
  return project.cdnUrl;
}

async function save(
  deps: DomainDeps,
  projectId: string,
  cdnUrl: string | null,
  message: string,
): Promise<void> {
  const now = deps.now();
  try {
    await deps.db.transact(async (tx) => {
      if ((await tx.get(setCdnUrl, { projectId, cdnUrl, now })) === null) throw notFound("Project");
      await writeLog(tx, now, { projectId, environment: "live", type: "project.updated", message });
    });
  } catch (error) {
    throw error instanceof UniqueViolation ? invalid("domain", "is used by another project") : error;
  }
  deps.customHosts.forget();
}

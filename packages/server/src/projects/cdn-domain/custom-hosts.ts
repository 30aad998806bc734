import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { unknownPath } from "../../http/error-handler.ts";
import { fileNotFound } from "../../kernel/errors.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";
import { findProjectOfDomain } from "./cdn-domain.ts";

/** How long another instance may miss a change. */
const rememberMs = 1000;
/** Anyone can send any host, so their number is unbounded. */
const mostRemembered = 1000;

/** Hosts that serve only one project's files. */
export interface CustomHosts {
  /** Whether it is one of the installation's own hosts, as in nearly every request. */
  isOwn(host: string): boolean;
  /** The host's project; null for a host that serves everything. */
  findProject(host: string): Promise<string | null>;
  /** Call it after a change, so that it takes effect here immediately. */
  forget(): void;
}

interface Answer {
  projectId: string | null;
  until: number;
}

export function createCustomHosts({ config, db }: Pick<Deps, "config" | "db">): CustomHosts {
  const own = new Set([config.publicUrl, config.cdnUrl].flatMap(spellingsOf));
  let remembered = createShortMemory<Answer>(mostRemembered);

  async function look(host: string): Promise<string | null> {
    const name = normalizeHost(host);
    if (name === null || own.has(name)) return null;
    const found = await db.get(findProjectOfDomain, { cdnUrl: `https://${name}` });
    return found?.id ?? null;
  }

  return {
    isOwn: (host) => own.has(host),
    async findProject(host) {
      const known = remembered.find(host);
      if (known !== undefined && known.until > performance.now()) return known.projectId;
      const memory = remembered;
      const projectId = await look(host);
      memory.remember(host, { projectId, until: performance.now() + rememberMs });
      return projectId;
    },
    forget() {
      // Lookups in progress write to the old cache, and are dropped with it.
      remembered = createShortMemory(mostRemembered);
    },
  };
}

/** A proxy may omit the port. */
function spellingsOf(address: string): string[] {
  const { host, hostname } = new URL(address);
  return [host, hostname];
}

/** Normalised like a custom domain: lower case, without the default port or trailing dot. Null if it is not a host. */
function normalizeHost(host: string): string | null {
  return URL.parse(`https://${host.replace(/\.(?=:\d+$|$)/, "")}`)?.host ?? null;
}

/**
 * A custom domain serves only its own project's files: another project's files on that domain would look like the
 * customer's, and so would a sign-in page.
 */
export function bindCustomDomains(app: FastifyInstance, hosts: CustomHosts): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const host = hostOf(request);
    // Probes name whatever host they like, and must not depend on the database.
    if (hosts.isOwn(host) || request.routeOptions.config.customDomain === "always") done();
    else hosts.findProject(host).then((projectId) => done(refuseAt(projectId, request)), done);
  });
}

/** Asking the framework costs more, and only matters if a proxy may have forwarded another host. */
function hostOf(request: FastifyRequest): string {
  const { headers } = request.raw;
  return headers["x-forwarded-host"] === undefined ? (headers.host ?? "") : request.host;
}

function refuseAt(projectId: string | null, request: FastifyRequest): Error | undefined {
  if (projectId === null) return undefined;
  const { customDomain } = request.routeOptions.config;
  if (customDomain === "own-links") {
    request.boundProject = projectId;
    return undefined;
  }
  if (customDomain !== "own-files") return unknownPath();
  const { "*": key } = request.params as { "*": string };
  return key.startsWith(`${projectId}/`) ? undefined : fileNotFound();
}

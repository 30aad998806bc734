import type { FastifyInstance, FastifyRequest } from "fastify";
import { unknownPath } from "../../http/unknown-path.ts";
import { fileNotFound } from "../../kernel/errors.ts";
import type { CustomHosts } from "./custom-hosts.ts";

/**
 * A custom domain serves the files of its own project and nothing else: another project's files under that name would
 * look like the customer's, and so would a sign-in page.
 */
export function bindCustomDomains(app: FastifyInstance, hosts: CustomHosts): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const project = hosts.findProject(hostOf(request));
    if (project === null) done();
    else if (project instanceof Promise) project.then((id) => done(refuseAt(id, request)), done);
    else done(refuseAt(project, request));
  });
}

/** Asking the framework costs more, and only matters where a proxy may have named another host. */
function hostOf(request: FastifyRequest): string {
  const { headers } = request.raw;
  return headers["x-forwarded-host"] === undefined ? (headers.host ?? "") : request.host;
}

function refuseAt(projectId: string | null, request: FastifyRequest): Error | undefined {
  if (projectId === null) return undefined;
  const { customDomain } = request.routeOptions.config;
  if (customDomain === "always") return undefined;
  if (customDomain !== "own-files") return unknownPath();
  const { "*": key } = request.params as { "*": string };
  return key.startsWith(`${projectId}/`) ? undefined : fileNotFound();
}

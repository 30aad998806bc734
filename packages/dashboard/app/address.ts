import { ENVIRONMENTS, type Environment } from "@upstow/contract";

/** /<project>/<environment>/<page>: every page says which project and environment it is about, and can be shared. */
export interface Address {
  projectId: string | null;
  environment: Environment;
  /** Such as "files" or "settings/keys"; empty for the list of projects. */
  page: string;
}

/** Pages of an account or the installation. Their URLs include a project, so that it stays selected. */
export const accountPages = ["account", "activity", "admin", "admin/audit"];

export function readAddress(path: string): Address {
  const segments = path.split("/").slice(1);
  // Older URLs started with /p.
  const [projectId = "", environmentName, ...rest] = segments[0] === "p" ? segments.slice(1) : segments;
  const environment = ENVIRONMENTS.find((name) => name === environmentName) ?? "live";
  const page = segments.join("/");
  if (page === "" || accountPages.includes(page)) return { projectId: null, environment, page };
  return { projectId, environment, page: rest.join("/") || "overview" };
}

export function addressOf(projectId: string, environment: Environment, page: string): string {
  return `/${projectId}/${environment}/${page}`;
}

const storageKey = "upstow-workspace";

export function rememberWorkspace(projectId: string, environment: Environment): void {
  localStorage.setItem(storageKey, `${projectId}/${environment}`);
}

/** The project for a URL without one: the last open project, or the only one. Null if neither exists. */
export function recallAddress(page: string, projects: { id: string }[]): string | null {
  const [lastId, environment] = (localStorage.getItem(storageKey) ?? "").split("/");
  const last = projects.find(({ id }) => id === lastId);
  const target = last ?? (projects.length === 1 ? projects[0] : undefined);
  if (target === undefined) return null;
  const isTest = last !== undefined && environment === "test";
  return addressOf(target.id, isTest ? "test" : "live", page || "overview");
}

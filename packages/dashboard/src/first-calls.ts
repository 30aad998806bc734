/**
 * What a page calls before it can show anything. The browser starts these with the page instead of one after another:
 * the account once the script runs, then the projects, then what the page itself needs.
 */
export function listFirstCalls(path: string, search: string): string[] {
  const [, projectId = "", environment = "", page = ""] =
    /^\/dashboard\/([0-9a-z]{26})\/(live|test)\/([a-z]+)$/.exec(path) ?? [];
  const own = `/in/${projectId}/${environment}`;
  const calls = ["/session", "/projects"];
  // With a search or a folder the calls are others, which only the page knows.
  if (page === "files" && search === "") {
    calls.push(`/in/${projectId}/live/projects/${projectId}/routers`);
    calls.push(`${own}/folders`, `${own}/search?limit=100`);
  }
  return calls.map((call) => `/dashboard/api${call}`);
}

/** An entry of Vite's manifest. */
export interface ManifestEntry {
  file: string;
  imports?: string[];
  css?: string[];
  isDynamicEntry?: boolean;
}
export type Manifest = Record<string, ManifestEntry>;

/** What every page starts with. First in line, since over HTTP/1.1 only a few files are fetched at once. */
export function listShellFiles(manifest: Manifest): { scripts: string[]; styles: string[] } {
  const { file, css = [] } = manifest["index.html"] ?? { file: "" };
  return { scripts: [file].map(urlOf), styles: css.map(urlOf) };
}

const urlOf = (file: string) => `/dashboard/${file}`;

/** The scripts of a page besides the first one, which asks for them only when it runs. */
export function listPageScripts(manifest: Manifest, path: string): string[] {
  const page = /^\/dashboard\/[0-9a-z]{26}\/(?:live|test)\/([a-z]+)/.exec(path)?.[1] ?? path.split("/")[2];
  const entries = Object.entries(manifest);
  const [, entry] =
    entries.find(([name, { isDynamicEntry }]) => isDynamicEntry && name.startsWith(`app/pages/${page}/`)) ??
    [];
  if (entry === undefined) return [];
  const imported = (entry.imports ?? []).flatMap((name) =>
    name === "index.html" ? [] : (manifest[name]?.file ?? []),
  );
  return [entry.file, ...imported].map(urlOf);
}

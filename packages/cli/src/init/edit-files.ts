import type { Credentials } from "../credentials.ts";

/** Keeps the file's indentation and other contents; packages already listed keep their version. */
export function addPackages(text: string, ranges: Record<string, string>): string {
  const manifest = JSON.parse(text);
  const missing = Object.entries(ranges).filter(
    ([name]) => manifest.dependencies?.[name] === undefined && manifest.devDependencies?.[name] === undefined,
  );
  if (missing.length === 0) return text;
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(missing) };
  const sorted = Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1));
  return writeManifest(text, { ...manifest, dependencies: Object.fromEntries(sorted) });
}

/** Adds a script under an unused name. */
export function addScript(text: string, name: string, command: string): string {
  const manifest = JSON.parse(text);
  if (manifest.scripts?.[name] !== undefined) return text;
  return writeManifest(text, { ...manifest, scripts: { ...manifest.scripts, [name]: command } });
}

function writeManifest(text: string, manifest: object): string {
  const indent = /^([ \t]+)"/m.exec(text)?.[1] ?? "  ";
  const after = JSON.stringify(manifest, null, indent);
  return text.endsWith("\n") ? `${after}\n` : after;
}

const assignmentOf = (name: string) => `^\\s*(?:export\\s+)?${name}\\s*=`;

/** Adds variables that are not set yet. */
export function addVariables(text: string, variables: Record<string, string>): string {
  const isSet = (name: string) => new RegExp(assignmentOf(name), "m").test(text);
  const lines = Object.entries(variables)
    .filter(([name]) => !isSet(name))
    .map(([name, value]) => `${name}=${value}\n`);
  return lines.length === 0 ? text : endLine(text) + lines.join("");
}

/** Placeholder in the environment file until there is a key. */
export const placeholderKey = "svc_test_…";

/** Replaces the placeholder with a key, and sets the URL of the service that the key belongs to. */
export function fillPlaceholder(text: string, { url, apiKey }: Credentials): string {
  const isKept = new RegExp(`${assignmentOf("UPSTOW_API_KEY")}[ "']*${placeholderKey}`, "m").test(text);
  if (!isKept || apiKey === placeholderKey) return text;
  const set = (before: string, name: string, value: string) =>
    before.replace(new RegExp(`(${assignmentOf(name)}).*`, "m"), (_, start) => start + value);
  return set(set(text, "UPSTOW_URL", url), "UPSTOW_API_KEY", apiKey);
}

/** Keeps the key out of the repository. */
export function ignoreFile(text: string, name: string): string {
  const patterns = [
    name,
    `/${name}`,
    ".env*",
    "/.env*",
    `${name}*`,
    ...(name.endsWith(".local") ? ["*.local", ".env*.local"] : []),
  ];
  const isIgnored = text.split(/\r?\n/).some((line) => patterns.includes(line.trim()));
  return isIgnored ? text : `${endLine(text)}${name}\n`;
}

const importLines = /^import\b[^;]*?["'][^"'\n]+["'];?[ \t]*\r?\n/gm;

/** Wraps a layout's children or the application in the provider; null if it is not clear where they are. */
export function wrapInProvider(text: string, inner: "{children}" | "<App />" | "<Outlet />"): string | null {
  if (text.includes("<UploadProvider>")) return text;
  const pattern =
    inner === "{children}" ? /(?<=[>}]|^)([ \t\r\n]*)\{children\}/gm : new RegExp(`()${inner}`, "g");
  const places = [...text.matchAll(pattern)];
  const [place] = places;
  if (place === undefined || places.length > 1) return null;
  const at = place.index + (place[1]?.length ?? 0);
  const wrapped = `${text.slice(0, at)}<UploadProvider>${inner}</UploadProvider>${text.slice(at + inner.length)}`;
  const lastImport = [...wrapped.matchAll(importLines)].at(-1);
  const end = lastImport === undefined ? 0 : lastImport.index + lastImport[0].length;
  return `${wrapped.slice(0, end)}import { UploadProvider } from "./upload-provider";\n${wrapped.slice(end)}`;
}

/** Makes Vite's dev server proxy uploads; null if its configuration is not a plain object. */
export function addProxy(text: string, path: string, target: string): string | null {
  if (text.includes(target)) return text;
  const opening = "defineConfig({\n";
  if (text.split(opening).length !== 2 || /\bserver\s*:/.test(text)) return null;
  return text.replace(opening, `${opening}  server: { proxy: { "${path}": "${target}" } },\n`);
}

const routesPackage = /import \{([^}]*)\} from (["'])@react-router\/dev\/routes\2/;

/** Adds a path to React Router's list of routes; null if it is not a literal list. */
export function addRoute(text: string, path: string, file: string): string | null {
  // Routes are found by file name there.
  if (text.includes(`"${path}"`) || /export default (await )?flatRoutes\(/.test(text)) return text;
  const names = routesPackage.exec(text)?.[1];
  const list = /export default \[(\s*)/.exec(text);
  if (names === undefined || list === null) return null;
  const entry = `route("${path}", "${file}"),${list[1] === "" ? " " : list[1]}`;
  const withEntry = text.replace(list[0], () => list[0] + entry);
  if (/\broute\b/.test(names)) return withEntry;
  return withEntry.replace(routesPackage, (line) => line.replace("{", "{ route,").replace(",  ", ", "));
}

/** Lets Yarn fetch packages from a host without HTTPS; null if the list of such hosts is on one line. */
export function allowPlainHttp(text: string, host: string): string | null {
  const list = /^unsafeHttpWhitelist:(.*)\n/m.exec(text);
  if (list === null) return `${endLine(text)}unsafeHttpWhitelist:\n  - "${host}"\n`;
  if (new RegExp(`^ *- *["']?${host.replaceAll(".", "\\.")}["']?\\s*$`, "m").test(text)) return text;
  if (list[1]?.trim() !== "") return null;
  return text.replace(list[0], () => `${list[0]}  - "${host}"\n`);
}

const endLine = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

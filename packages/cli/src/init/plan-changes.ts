import { existsSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { type Framework, type Package, packageUrl } from "@upstow/mcp/scaffolds";
import type { Credentials } from "../credentials.ts";
import type { Change } from "./change.ts";
import type { Project } from "./detect-project.ts";
import {
  addPackages,
  addProxy,
  addRoute,
  addScript,
  addVariables,
  allowPlainHttp,
  fillPlaceholder,
  ignoreFile,
  wrapInProvider,
} from "./edit-files.ts";
import { serverPort, writeEnvironment, writeHandler, writeProvider } from "./write-code.ts";

export interface Plan {
  changes: Change[];
  /** What the user has to do, and why. */
  notes: string[];
}

/** How to mount the handler on an existing server. Other frameworks find it by file name. */
const mounts: Partial<Record<Framework, (load: (names: string) => string) => string>> = {
  express: (load) => `${load("app: uploads")} app.use(uploads);`,
  fastify: (load) =>
    `${load("router")} app.route({ method: ["GET", "POST"], url: "/api/upload", handler: createRouteHandler({ router }) });`,
  hono: (load) => `${load("app: uploads")} app.route("/", uploads);`,
};

const nameVariables =
  "Declare UPSTOW_URL and UPSTOW_API_KEY in src/env: SvelteKit passes on only declared variables.";
const reactUse = 'Show it: <UploadDropzone route="image" />, from @upstow/react.';
const plainUse =
  'Use it in a page: createUploader({ endpoint: "/api/upload" }).upload("image", file), from @upstow/sdk/client.';

/** The changes that uploads need. Existing files are not replaced. */
export function planChanges(project: Project, connection: Credentials): Plan {
  const { folder, framework, hasReact, isVite } = project;
  const changes: Change[] = [];
  const notes: string[] = [];
  const find = (path: string) => {
    const full = join(folder, path);
    return existsSync(full) ? readFileSync(full, "utf8") : null;
  };
  const edit = (path: string, change: (text: string) => string) => {
    const before = find(path);
    const after = change(before ?? "");
    if (after !== (before ?? "")) changes.push({ path, before, after });
  };
  const create = (path: string, code: string) => {
    const before = find(path);
    if (before === null) changes.push({ path, before, after: code });
    else if (before !== code) notes.push(`${path} already exists and was not changed.`);
  };
  /** Edits whichever of these files exists, if it is clear how. */
  const tryToEdit = (paths: string[], change: (text: string) => string | null, otherwise: string) => {
    const path = paths.find((name) => find(name) !== null);
    const after = path === undefined ? null : change(find(path) ?? "");
    if (path !== undefined && after !== null) edit(path, () => after);
    else notes.push(otherwise);
  };
  const inSrc = (path: string) => (path.startsWith("app/") && usesSrc(folder) ? `src/${path}` : path);

  const handler = writeHandler(project);
  const envFile = framework === "next" ? ".env.local" : ".env";
  edit("package.json", (text) => {
    const own = Object.fromEntries(
      packagesOf(project).map((name) => [name, packageUrl(connection.url, name)]),
    );
    return isVite ? addServer(addPackages(text, own), project, handler.path) : addPackages(text, own);
  });
  const { protocol, hostname } = new URL(connection.url);
  if (project.isModernYarn && protocol === "http:") {
    edit(
      join(relative(folder, project.lockFolder), ".yarnrc.yml"),
      (text) => allowPlainHttp(text, hostname) ?? text,
    );
  }
  for (const { path, code } of handler.files) create(inSrc(path), code);
  const named = writeEnvironment(project);
  if (named !== null && find(named.path)?.includes("UPSTOW_API_KEY") === false) notes.push(nameVariables);
  else if (named !== null) create(named.path, named.code);

  if (hasReact) {
    const { appFolder, pages, inner } = placeOfProvider(project, inSrc);
    const provider = writeProvider(project);
    const path = posix.join(appFolder, provider.path);
    create(path, provider.code);
    if (framework === "astro") {
      notes.push(
        `Put <UploadProvider> from ${path} and everything inside it into one component with client:load.`,
      );
    } else {
      tryToEdit(
        pages.map((name) => posix.join(appFolder, name)),
        (text) => wrapInProvider(text, inner),
        `Wrap your application in <UploadProvider> from ${path}.`,
      );
    }
  }
  if (framework === "react-router") {
    const file = posix.relative("app", handler.path);
    tryToEdit(
      ["app/routes.ts", "app/routes.js"],
      (text) => addRoute(text, "api/upload", file),
      `Add route("api/upload", "${file}") to your routes.`,
    );
  }
  if (framework === "astro" && !hasAdapter(project)) {
    notes.push(
      "Add an adapter for your host, such as `npx astro add node`, because the endpoint runs on the server.",
    );
  }
  if (isVite) {
    const target = `http://localhost:${serverPort}`;
    tryToEdit(
      ["vite.config.ts", "vite.config.js", "vite.config.mjs"],
      (text) => addProxy(text, "/api/upload", target),
      `Add a proxy to your Vite configuration: server: { proxy: { "/api/upload": "${target}" } } in its configuration.`,
    );
  }

  edit(envFile, (text) =>
    addVariables(fillPlaceholder(text, connection), {
      UPSTOW_URL: connection.url,
      UPSTOW_API_KEY: connection.apiKey,
    }),
  );
  edit(".gitignore", (text) => ignoreFile(text, envFile));
  return { changes, notes: [...notes, ...explainUse(project, handler.path, envFile)] };
}

/** What is left to do when the files are there. */
function explainUse(project: Project, handlerPath: string, envFile: string): string[] {
  const { framework, hasReact, isVite, packageManager, manifest } = project;
  const use = hasReact ? reactUse : plainUse;
  if (isVite) return [use, `Start both: ${packageManager} run server, and ${packageManager} run dev.`];
  const mount = mounts[framework];
  if (mount !== undefined)
    return [
      `Add it to your server: ${mount(loading(project, handlerPath))}`,
      `Start your server with node --env-file=${envFile}, to load the service's URL and the key.`,
      use,
    ];
  return manifest.scripts?.["dev"] === undefined ? [use] : [use, `Start it: ${packageManager} run dev.`];
}

/** A server for a Vite project, run by its own Node where that runs TypeScript. */
function addServer(manifest: string, { isTypeScript, nodeRunsTypeScript }: Project, path: string): string {
  const needsTsx = isTypeScript && !nodeRunsTypeScript();
  const packages = { express: "^5.1.0", ...(needsTsx ? { tsx: "^4.20.0" } : {}) };
  const command = `${needsTsx ? "tsx" : "node"} --env-file=.env ${path}`;
  return addScript(addPackages(manifest, packages), "server", command);
}

const hasAdapter = ({ manifest: { dependencies, devDependencies } }: Project) =>
  Object.keys({ ...dependencies, ...devDependencies }).some((name) =>
    /^@astrojs\/(node|vercel|netlify|cloudflare)$/.test(name),
  );

/** The file that wraps all components, and the part of it that goes inside the provider. */
function placeOfProvider({ framework, isVite }: Project, inSrc: (path: string) => string) {
  if (framework === "next") {
    const pages = ["layout.tsx", "layout.jsx", "layout.js"];
    return { appFolder: inSrc("app/"), pages, inner: "{children}" as const };
  }
  if (framework === "react-router") {
    return { appFolder: "app/", pages: ["root.tsx", "root.jsx"], inner: "<Outlet />" as const };
  }
  return { appFolder: "src/", pages: isVite ? ["main.tsx", "main.jsx"] : [], inner: "<App />" as const };
}

const packagesOf = ({ hasReact }: Project): readonly Package[] =>
  hasReact ? ["@upstow/sdk", "@upstow/react"] : ["@upstow/sdk"];

/** The module system of the project's own files. */
function loading({ isTypeScript, framework, manifest }: Project, path: string) {
  const isImported = isTypeScript || manifest.type === "module";
  const load = (names: string, from: string) =>
    isImported
      ? `import { ${names.replace(":", " as")} } from "${from}";`
      : `const { ${names} } = require("${from}");`;
  return (names: string) =>
    framework === "fastify"
      ? `${load("createRouteHandler", "@upstow/sdk/fastify")} ${load(names, `./${path}`)}`
      : load(names, `./${path}`);
}

/** Next uses src if it exists, unless there is an app folder next to it. */
const usesSrc = (folder: string) => existsSync(join(folder, "src")) && !existsSync(join(folder, "app"));

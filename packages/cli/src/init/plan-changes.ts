import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type Framework, renderProvider, renderRouteHandler } from "@upstow/mcp/scaffolds";
import type { Credentials } from "../credentials.ts";
import type { Change } from "./change.ts";
import type { Project } from "./detect-project.ts";
import { addPackages, addVariables, ignoreFile, wrapChildren } from "./edit-files.ts";

export interface Plan {
  changes: Change[];
  /** What is left to the user, and why. */
  notes: string[];
}

const providerName = "upload-provider.tsx";

/** How a server that is there already takes the handler. The others find it by the name of its file. */
const mounts: Partial<Record<Framework, string>> = {
  express: 'app.all("/api/upload", createRouteHandler({ router }))',
  fastify:
    'app.route({ method: ["GET", "POST"], url: "/api/upload", handler: createRouteHandler({ router }) })',
  hono: 'app.on(["GET", "POST"], "/api/upload", createRouteHandler({ router }))',
};

const reactUse = 'Show it: <UploadDropzone route="image" />, from @upstow/react.';
const plainUse =
  'Use it in a page: createUploader({ endpoint: "/api/upload" }).upload("image", file), from @upstow/sdk/client.';

/** What has to be written for uploads to work. What is there already stays as it is. */
export function planChanges(project: Project, connection: Credentials, packageVersion: string): Plan {
  const { folder, framework, hasReact } = project;
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
    else if (before !== code) notes.push(`${path} is there already and stays as it is.`);
  };

  const packages = ["@upstow/sdk", ...(hasReact ? ["@upstow/react"] : [])];
  edit("package.json", (text) => addPackages(text, packages, `^${packageVersion}`));

  const handler = renderRouteHandler({
    framework,
    routeName: "image",
    maxFileSize: "4MB",
    allowedTypes: ["image/*"],
  });
  const inSrc = (path: string) => (path.startsWith("app/") && usesSrc(folder) ? `src/${path}` : path);
  create(inSrc(handler.path), handler.code);

  if (hasReact) {
    const appFolder = framework === "next" ? inSrc("app/") : "src/";
    create(posix.join(appFolder, providerName), renderProvider().code);
    const layout = ["layout.tsx", "layout.jsx", "layout.js"]
      .map((name) => posix.join(appFolder, name))
      .find((path) => find(path) !== null);
    const wrapped = layout === undefined ? null : wrapChildren(find(layout) ?? "");
    if (layout !== undefined && wrapped !== null) edit(layout, () => wrapped);
    else
      notes.push(`Put <UploadProvider> of ${posix.join(appFolder, providerName)} around your application.`);
  }

  const envFile = framework === "next" ? ".env.local" : ".env";
  edit(envFile, (text) =>
    addVariables(text, { UPSTOW_URL: connection.url, UPSTOW_API_KEY: connection.apiKey }),
  );
  edit(".gitignore", (text) => ignoreFile(text, envFile));
  const mount = mounts[framework];
  if (mount !== undefined) {
    notes.push(
      `${handler.path} makes an app of its own. If you have one, take its router there: ${mount}`,
      `Start your server with node --env-file=${envFile}, so that it knows the service and the key.`,
    );
  }
  notes.push(hasReact ? reactUse : plainUse);
  return { changes, notes };
}

/** Next looks below src as soon as there is one, unless there is an app folder beside it. */
const usesSrc = (folder: string) => existsSync(join(folder, "src")) && !existsSync(join(folder, "app"));

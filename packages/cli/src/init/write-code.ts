import {
  type Framework,
  forSvelteKit2,
  renderProvider,
  renderRouteHandler,
  renderSvelteEnv,
  renderViteServer,
  type SourceFile,
} from "@upstow/mcp/scaffolds";
import type { Project } from "./detect-project.ts";

/** The port of the server that is added to a Vite project. */
export const serverPort = 3000;

const route = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };
const standAlone: Framework[] = ["express", "fastify", "hono"];

/** The route handler in the project's language, and the file that mounts it. */
export function writeHandler(project: Project): { path: string; files: SourceFile[] } {
  const { framework, isTypeScript, isVite, manifest } = project;
  // Files that Node runs directly need .mjs where the package is not a module.
  const isPlainNode = standAlone.includes(framework) && manifest.type !== "module";
  const extension = isTypeScript ? "ts" : isPlainNode ? "mjs" : "js";
  const inProject = ({ path, code }: SourceFile): SourceFile => ({
    path: path.replace(/ts$/, extension),
    code: inLanguage(isTypeScript, isSvelteKit2(project) ? forSvelteKit2(code) : code).replace(
      "-router.ts",
      `-router.${extension}`,
    ),
  });
  const { router, server } = renderViteServer(route, serverPort);
  const files = isVite ? [router, server] : [renderRouteHandler({ framework, ...route })];
  const written = files.map(inProject);
  return { path: written.at(-1)?.path ?? "", files: written };
}

/** The handler's path as the provider imports it. Every module resolution mode accepts the extension. */
const routerModules: Partial<Record<Framework, string>> = {
  express: "./upload.js",
  fastify: "./upload.js",
  hono: "./upload.js",
  astro: "./pages/api/upload.js",
  "react-router": "./routes/api.upload.js",
};

export function writeProvider({ framework, isTypeScript, isVite }: Project): SourceFile {
  const { code } = renderProvider(isVite ? "../upload-router.js" : routerModules[framework]);
  return {
    path: `upload-provider.${isTypeScript ? "tsx" : "jsx"}`,
    code: inLanguage(isTypeScript, code),
  };
}

/** Null where variables in `.env` reach the handler without being declared. */
export function writeEnvironment(project: Project): SourceFile | null {
  const { framework, isTypeScript } = project;
  if (framework !== "sveltekit" || isSvelteKit2(project)) return null;
  const { path, code } = renderSvelteEnv();
  return { path: isTypeScript ? path : path.replace(/ts$/, "js"), code };
}

function isSvelteKit2({ framework, manifest }: Project): boolean {
  const range = { ...manifest.dependencies, ...manifest.devDependencies }["@sveltejs/kit"] ?? "";
  const [major = "3"] = range.match(/\d+/) ?? [];
  return framework === "sveltekit" && Number(major) < 3;
}

/** Strips the few types in the scaffolds for plain JavaScript. */
function inLanguage(isTypeScript: boolean, code: string): string {
  if (isTypeScript) return code;
  return code
    .replace(/^import type .*\n/gm, "")
    .replace(/^\/\/ .*\ndeclare module [\s\S]*?^}\n\n/gm, "")
    .replace(/\nexport type .*\n/g, "")
    .replace(", type FileRouter", "")
    .replace(" satisfies FileRouter", "")
    .replace(/: \{ (children: ReactNode|request: Request) \}/, "");
}

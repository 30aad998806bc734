import {
  type Framework,
  renderProvider,
  renderRouteHandler,
  renderSvelteEnv,
  type SourceFile,
} from "@upstow/mcp/scaffolds";
import type { Project } from "./detect-project.ts";

/** The port of the server that is added to a Vite project. */
export const serverPort = 3000;

const route = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };
const standAlone: Framework[] = ["express", "fastify", "hono"];

/** The route handler, in the project's language. */
export function writeHandler(project: Project): SourceFile {
  const { framework, isTypeScript, isVite, manifest } = project;
  const { path, code } = renderRouteHandler({ framework, ...route });
  // Files that Node runs directly need .mjs where the package is not a module.
  const isPlainNode = standAlone.includes(framework) && manifest.type !== "module";
  const extension = isTypeScript ? "ts" : isPlainNode ? "mjs" : "js";
  const named = (isVite ? "server.ts" : path).replace(/ts$/, extension);
  return { path: named, code: inLanguage(isTypeScript, isVite ? `${code}${listening}` : code) };
}

const listening = `
// What \`vite build\` has made; while you develop, Vite serves the pages and passes uploads on to here.
app.use(express.static("dist"));
app.listen(${serverPort}, () => console.log("http://localhost:${serverPort}"));
`;

/** The handler's path as the provider imports it. Every module resolution mode accepts the extension. */
const routerModules: Partial<Record<Framework, string>> = {
  express: "./upload.js",
  fastify: "./upload.js",
  hono: "./upload.js",
  astro: "./pages/api/upload.js",
  "react-router": "./routes/api.upload.js",
};

export function writeProvider({ framework, isTypeScript, isVite }: Project): SourceFile {
  // To the compiler, Vite's pages and their server are separate programs.
  const { code } = renderProvider(isVite ? null : routerModules[framework]);
  return {
    path: `upload-provider.${isTypeScript ? "tsx" : "jsx"}`,
    code: inLanguage(isTypeScript, code),
  };
}

/** Null where variables in `.env` reach the handler without being declared. */
export function writeEnvironment({ framework, isTypeScript, manifest }: Project): SourceFile | null {
  const range = { ...manifest.dependencies, ...manifest.devDependencies }["@sveltejs/kit"] ?? "";
  const [major = "3"] = range.match(/\d+/) ?? [];
  if (framework !== "sveltekit" || Number(major) < 3) return null;
  const { path, code } = renderSvelteEnv();
  return { path: isTypeScript ? path : path.replace(/ts$/, "js"), code };
}

/** Strips the few types in the scaffolds for plain JavaScript. */
function inLanguage(isTypeScript: boolean, code: string): string {
  if (isTypeScript) return code;
  return code
    .replace(/^import type .*\n/gm, "")
    .replace(/^\/\/ .*\ndeclare module [\s\S]*?^}\n\n/gm, "")
    .replace(/^export type .*\n\n/gm, "")
    .replace(", type FileRouter", "")
    .replace(" satisfies FileRouter", "")
    .replace(/: \{ (children: ReactNode|request: Request) \}/, "");
}

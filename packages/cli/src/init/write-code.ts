import {
  type Framework,
  renderProvider,
  renderRouteHandler,
  renderSvelteEnv,
  type SourceFile,
} from "@upstow/mcp/scaffolds";
import type { Project } from "./detect-project.ts";

/** Where Vite's pages find the server that is added to them. */
export const serverPort = 3000;

const route = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };
const standAlone: Framework[] = ["express", "fastify", "hono"];

/** The route handler, in the project's own language. */
export function writeHandler(project: Project): SourceFile {
  const { framework, isTypeScript, isVite, manifest } = project;
  const { path, code } = renderRouteHandler({ framework, ...route });
  // What Node runs by itself must say that it is a module where packages are not.
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

/** The handler, seen from the provider. Every way of resolving modules understands the extension. */
const routerModules: Partial<Record<Framework, string>> = {
  express: "./upload.js",
  fastify: "./upload.js",
  hono: "./upload.js",
  astro: "./pages/api/upload.js",
  "react-router": "./routes/api.upload.js",
};

export function writeProvider({ framework, isTypeScript, isVite }: Project): SourceFile {
  // Vite's pages and their server are separate programs to the compiler.
  const { code } = renderProvider(isVite ? null : routerModules[framework]);
  return {
    path: `upload-provider.${isTypeScript ? "tsx" : "jsx"}`,
    code: inLanguage(isTypeScript, code),
  };
}

/** Null where variables of `.env` reach the handler without being named. */
export function writeEnvironment({ framework, isTypeScript, manifest }: Project): SourceFile | null {
  const range = { ...manifest.dependencies, ...manifest.devDependencies }["@sveltejs/kit"] ?? "";
  const [major = "3"] = range.match(/\d+/) ?? [];
  if (framework !== "sveltekit" || Number(major) < 3) return null;
  const { path, code } = renderSvelteEnv();
  return { path: isTypeScript ? path : path.replace(/ts$/, "js"), code };
}

/** The few types that the scaffolds have, taken out where nobody would understand them. */
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

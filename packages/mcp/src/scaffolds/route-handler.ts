import { svelteEnvImport } from "./svelte-env.ts";

export const FRAMEWORKS = ["next", "express", "fastify", "hono", "sveltekit"] as const;
/** Those that `upstow init` knows; the tools offer fewer. */
export const INIT_FRAMEWORKS = [...FRAMEWORKS, "astro", "react-router"] as const;
export type Framework = (typeof INIT_FRAMEWORKS)[number];

export interface RouteHandlerOptions {
  framework: Framework;
  routeName: string;
  maxFileSize: string | number;
  allowedTypes: string[];
  /** Private files need a read handler, too. */
  access?: "public" | "private";
}

export interface SourceFile {
  path: string;
  code: string;
}

interface Mount {
  path: string;
  /** The SDK's entry, where it is not called like the framework. */
  entry?: string;
  before: string;
  after: string;
}

/** Where each framework expects the file, and how it mounts the handler. `upstow init` writes the same. */
const mounts: Record<Framework, Mount> = {
  next: {
    path: "app/api/upload/route.ts",
    before: "",
    after: "export const { GET, POST } = createRouteHandler({ router });",
  },
  express: {
    path: "src/upload.ts",
    before: 'import express from "express";\n',
    after: `export const app = express();
app.all("/api/upload", createRouteHandler({ router }));`,
  },
  fastify: {
    path: "src/upload.ts",
    before: 'import Fastify from "fastify";\n',
    after: `export const app = Fastify();
app.route({ method: ["GET", "POST"], url: "/api/upload", handler: createRouteHandler({ router }) });`,
  },
  hono: {
    path: "src/upload.ts",
    before: 'import { Hono } from "hono";\n',
    after: `export const app = new Hono();
app.on(["GET", "POST"], "/api/upload", createRouteHandler({ router }));`,
  },
  sveltekit: {
    path: "src/routes/api/upload/+server.ts",
    before: svelteEnvImport,
    after: `// SvelteKit 3 needs both variables named in src/env.ts.
export const { GET, POST } = createRouteHandler({
  router,
  baseUrl: env.UPSTOW_URL,
  apiKey: env.UPSTOW_API_KEY,
});`,
  },
  astro: {
    path: "src/pages/api/upload.ts",
    entry: "server",
    before: 'import { getSecret } from "astro:env/server";\n',
    after: `// Runs on request, whatever the pages do.
export const prerender = false;

const handle = createRouteHandler({
  router,
  baseUrl: getSecret("UPSTOW_URL"),
  apiKey: getSecret("UPSTOW_API_KEY"),
});
export const GET = ({ request }: { request: Request }) => handle(request);
export const POST = GET;`,
  },
  "react-router": {
    path: "app/routes/api.upload.ts",
    entry: "server",
    before: "",
    after: `const handle = createRouteHandler({ router });
export const loader = ({ request }: { request: Request }) => handle(request);
export const action = loader;`,
  },
};

/** Only known names may be exported there; elsewhere the browser's types need the router. */
const keepsRouter: Framework[] = ["next", "sveltekit", "astro", "react-router"];
/** They keep what they read from .env out of the process's own environment. */
const handsOver: Framework[] = ["sveltekit", "astro"];

/** The backend's upload endpoint: one file that holds the rules and keeps the API key on the server. */
export function renderRouteHandler(options: RouteHandlerOptions): SourceFile {
  const { framework } = options;
  const { path, entry = framework, before, after } = mounts[framework];
  const visibility = keepsRouter.includes(framework) ? "" : "export ";
  const code = `${before}import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/${entry}";

${renderRouter(options, visibility)}
${handsOver.includes(framework) ? "" : "// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.\n"}${after}
`;
  return { path, code };
}

/** The rules, and the type that makes the browser's code aware of them. */
function renderRouter(
  { routeName, maxFileSize, allowedTypes, access }: Omit<RouteHandlerOptions, "framework">,
  visibility: string,
): string {
  const types = allowedTypes.map((type) => JSON.stringify(type)).join(", ");
  return `const route = createFileRouter();

${visibility}const router = {
  ${propertyName(routeName)}: route({${types === "" ? "" : `\n    allowedTypes: [${types}],`}
    maxFileSize: ${JSON.stringify(maxFileSize)},${access === "private" ? '\n    access: "private",' : ""}
    // Decide here who may upload: throw an UpstowAuthError to refuse.
    middleware: async () => ({ uploadedBy: "someone" }),
    onUploadComplete: async ({ file, metadata }) => ({ url: file.url, uploadedBy: metadata.uploadedBy }),
  }),
} satisfies FileRouter;

export type Router = typeof router;
`;
}

/**
 * A server for pages that Vite makes. The router has its own file, because the compiler reads it together with the
 * pages, which know neither Express nor Node.
 */
export function renderViteServer(
  options: Omit<RouteHandlerOptions, "framework">,
  port: number,
): { router: SourceFile; server: SourceFile } {
  return {
    router: {
      path: "upload-router.ts",
      code: `import { createFileRouter, type FileRouter } from "@upstow/sdk/express";

${renderRouter(options, "export ")}`,
    },
    server: {
      path: "server.ts",
      code: `import { createRouteHandler } from "@upstow/sdk/express";
import express from "express";
import { router } from "./upload-router.ts";

// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
const app = express();
app.all("/api/upload", createRouteHandler({ router }));

// What \`vite build\` has made; while you develop, Vite serves the pages and passes uploads on to here.
app.use(express.static("dist"));
app.listen(${port}, () => console.log("http://localhost:${port}"));
`,
    },
  };
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

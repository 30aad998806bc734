import type { Framework, SourceFile } from "./route-handler.ts";
import { svelteEnvImport } from "./svelte-env.ts";

interface Mount {
  path: string;
  /** The SDK's entry, where it is not called like the framework. */
  entry?: string;
  before?: string;
  after: (handler: string) => string;
}

/** Always `/api/files`, the default of the React components. */
const mounts: Record<Framework, Mount> = {
  next: {
    path: "app/api/files/[...key]/route.ts",
    after: (handler) => `export const { GET, HEAD } = ${handler};`,
  },
  express: {
    path: "src/files.ts",
    before: 'import express from "express";\n',
    after: (handler) => `// Mount it with app.use("/api/files", files).
export const files = express.Router();
files.get("/{*key}", ${handler.replace("(", "<express.Request>(")});`,
  },
  fastify: {
    path: "src/files.ts",
    before: 'import type { FastifyInstance } from "fastify";\n',
    after: (handler) => `const handler = ${handler};

// Mount it with app.register(files).
export async function files(app: FastifyInstance) {
  app.get("/api/files/*", handler);
}`,
  },
  hono: {
    path: "src/files.ts",
    before: 'import { Hono } from "hono";\n',
    after: (handler) => `// Mount it with app.route("/api/files", files).
export const files = new Hono();
files.get("/*", ${handler});`,
  },
  sveltekit: {
    path: "src/routes/api/files/[...key]/+server.ts",
    before: svelteEnvImport,
    after: (handler) => `export const { GET, HEAD } = ${handOver(handler, "env.$")};`,
  },
  astro: {
    path: "src/pages/api/files/[...key].ts",
    entry: "server",
    before: 'import { getSecret } from "astro:env/server";\n',
    after: (handler) => `// Runs on request, whatever the pages do.
export const prerender = false;

const handle = ${handOver(handler, 'getSecret("$")')};
export const GET = ({ request }: { request: Request }) => handle(request, undefined);
export const HEAD = GET;`,
  },
  "react-router": {
    path: "app/routes/api.files.$.ts",
    entry: "server",
    after: (handler) => `const handle = ${handler};
export const loader = ({ request }: { request: Request }) => handle(request, undefined);`,
  },
};

/** Rejects everyone until the developer decides. */
const handler = `createReadHandler({
  // Decide here who may read: \`authorize\` gets { request, context, key, fileId }. Everyone else gets 404.
  authorize: async () => false,
})`;

/** For frameworks that keep what they read from .env out of the process's own environment. */
function handOver(code: string, variable: string): string {
  const read = (name: string) => variable.replace("$", name);
  const settings = `\n  baseUrl: ${read("UPSTOW_URL")},\n  apiKey: ${read("UPSTOW_API_KEY")},`;
  return code.replace("({", `({${settings}`);
}

/** The backend's endpoint at which signed-in users read private files. */
export function renderReadHandler(framework: Framework): SourceFile {
  const { path, entry = framework, before = "", after } = mounts[framework];
  const code = `${before}import { createReadHandler } from "@upstow/sdk/${entry}";

${after(handler)}
`;
  return { path, code };
}

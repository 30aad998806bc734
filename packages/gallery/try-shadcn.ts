// node packages/gallery/try-shadcn.ts: adds every component to a new project with the real shadcn command, from a
// running service, and compiles what it wrote. The command and React come from npm; our packages, as they would be
// published, from a registry that this program serves.
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { catalogue } from "@upstow/react/catalogue";
import { startApp } from "../server/test/support/start-app.ts";

const shadcn = "shadcn@4.23.0";
const packages = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "upstow-shadcn-"));
const project = join(folder, "project");
const run = promisify(execFile);

function pack(name: string): { manifest: { name: string; version: string }; tarball: Buffer } {
  const built = join(folder, name);
  execFileSync(process.execPath, [join(packages, name, "build.mjs"), built], { stdio: "inherit" });
  const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], { cwd: built });
  const [{ filename }] = JSON.parse(printed.toString());
  return {
    manifest: JSON.parse(readFileSync(join(built, "package.json"), "utf8")),
    tarball: readFileSync(join(folder, filename)),
  };
}

/** What the command asks its own registry for, whatever is added: the base colours of the project's style. */
const noColours = {
  inlineColors: { light: {}, dark: {} },
  cssVars: { light: {}, dark: {} },
  inlineColorsTemplate: "",
  cssVarsTemplate: "",
};

/** Has our packages, and sends npm to its own registry for all others. */
async function startRegistry() {
  const ours = new Map(["sdk", "react"].map((name) => [`/@upstow/${name}`, pack(name)]));
  const elsewhere = execFileSync("npm", ["config", "get", "registry"]).toString().trim().replace(/\/$/, "");
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    if (path.startsWith("/r/colors/")) return response.end(JSON.stringify(noColours));
    const found = ours.get(path.replace(/\.tgz$/, ""));
    if (found === undefined) return response.writeHead(307, { location: elsewhere + request.url }).end();
    const { manifest, tarball } = found;
    if (path.endsWith(".tgz")) return response.end(tarball);
    const dist = { tarball: `${url}${path}.tgz` };
    const versions = { [manifest.version]: { ...manifest, dist } };
    response.end(
      JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}

/** What `npx shadcn init` leaves in a Vite project. */
function writeProject(): void {
  const aliases = { components: "@/components", utils: "@/lib/utils", ui: "@/components/ui" };
  const files = {
    "package.json": { private: true, type: "module", dependencies: { react: "19.2.0" } },
    "components.json": {
      style: "new-york",
      rsc: false,
      tsx: true,
      tailwind: { config: "", css: "src/index.css", baseColor: "neutral", cssVariables: true },
      aliases,
    },
    "tsconfig.json": {
      compilerOptions: {
        ...{ jsx: "react-jsx", module: "esnext", moduleResolution: "bundler", strict: true, noEmit: true },
        ...{ skipLibCheck: true, types: [], lib: ["es2024", "dom", "dom.iterable"] },
        paths: { "@/*": ["./src/*"] },
      },
      include: ["src"],
    },
  };
  mkdirSync(join(project, "src"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(project, name), JSON.stringify(content, null, 2));
  }
  writeFileSync(join(project, "src/index.css"), "");
  writeFileSync(join(project, "src/css.d.ts"), 'declare module "*.css";\n');
}

const [app, registry] = await Promise.all([startApp({ database: "sqlite" }), startRegistry()]);
try {
  writeProject();
  const items = catalogue.map(({ slug }) => `${app.url}/r/${slug}.json`);
  const env = { ...process.env, npm_config_registry: `${registry.url}/`, REGISTRY_URL: `${registry.url}/r` };
  const options = { cwd: project, env };
  await run("npx", ["--yes", shadcn, "add", "--yes", ...items], options);
  await run("npm", ["install", "--save-dev", "@types/react@19"], options);
  const written = readdirSync(join(project, "src/components/upstow"));
  const missing = catalogue.filter(({ slug }) => !written.includes(`${slug}.tsx`));
  if (missing.length > 0) throw new Error(`not written: ${missing.map(({ slug }) => slug).join(", ")}`);
  await run(join(packages, "../node_modules/.bin/tsc"), ["-p", project]);
  process.stdout.write(
    `${shadcn} wrote ${written.length} files for ${items.length} components, and they compile.\n`,
  );
} finally {
  registry.close();
  await app.close();
  rmSync(folder, { recursive: true });
}
process.exit();

import type { DocPage } from "../docs-library.ts";
import { table } from "./api-pages.ts";
import { readSdkCalls } from "./read-calls.ts";
import { type ExportedName, readExports } from "./read-exports.ts";

interface EntryPoint {
  path: string;
  title: string;
  summary: string;
  /** From the folder of packages. */
  files: string[];
}

const entryPoints: EntryPoint[] = [
  {
    path: "server-client",
    title: "SDK: @upstow/sdk",
    summary: "The client for servers, scripts and tools: every call, its options and its response types.",
    files: ["sdk/src/index.ts"],
  },
  {
    path: "browser-uploader",
    title: "SDK: @upstow/sdk/client",
    summary: "The uploader for browsers: queue, progress, pause and resume.",
    files: ["sdk/src/client/index.ts"],
  },
  {
    path: "route-handlers",
    title: "SDK: route handlers",
    summary:
      "The file router and the handlers for Next, Express, Fastify, Hono, SvelteKit and plain `Request`.",
    files: ["server", "next", "express", "fastify", "hono", "sveltekit"].map((name) => `sdk/src/${name}.ts`),
  },
  {
    path: "webhooks",
    title: "SDK: @upstow/sdk/webhooks",
    summary: "The webhook signature verifier.",
    files: ["sdk/src/webhooks/index.ts"],
  },
  {
    path: "react",
    title: "SDK: @upstow/react",
    summary: "The provider, the headless hook and the types that all React components share.",
    files: ["react/src/index.ts"],
  },
  {
    path: "uppy",
    title: "SDK: @upstow/uppy",
    summary: "The plugin that lets Uppy upload through your route handler.",
    files: ["uppy/src/index.ts"],
  },
];

/** The packages as their sources declare them. */
export function renderSdkPages(packagesFolder: string, componentNames: string[]): DocPage[] {
  // Components and their props have their own pages.
  const isElsewhere = ({ name }: ExportedName) => componentNames.includes(name.replace(/Props$/, ""));
  return entryPoints.map(({ path, title, summary, files }) => {
    const sections = files.map((file) => {
      const names = readExports(`${packagesFolder}/${file}`).filter((entry) => !isElsewhere(entry));
      return files.length === 1
        ? renderNames(names, "##")
        : `## ${entryName(file)}\n\n${renderNames(names, "###")}`;
    });
    const calls = path === "server-client" ? renderCalls(packagesFolder) : "";
    const markdown = `# ${title}\n\n${summary}\n\n${calls}${sections.join("\n")}`;
    return { path: `reference/sdk/${path}`, title, summary, markdown };
  });
}

function renderCalls(packagesFolder: string): string {
  const rows = readSdkCalls(`${packagesFolder}/sdk/src`).map(({ call, about }) => [`\`${call}\``, about]);
  return `## Calls\n\n\`const upstow = createUpstow()\` gives:\n\n${table(["Call", ""], rows)}\n\n`;
}

function entryName(file: string): string {
  return `@upstow/${file.replace("/src", "").replace(".ts", "")}`;
}

function renderNames(names: ExportedName[], level: string): string {
  return names.map((name) => renderName(name, level)).join("\n");
}

function renderName({ name, about, code }: ExportedName, level: string): string {
  const text = about === "" ? "" : `${about}\n\n`;
  return `${level} ${name}\n\n${text}\`\`\`ts\n${code}\n\`\`\`\n`;
}

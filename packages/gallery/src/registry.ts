import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { type CatalogueEntry, catalogue } from "@upstow/react/catalogue";

const sources = fileURLToPath(new URL("../../react/src/", import.meta.url));
const folder = "components/upstow";

interface RegistryFile {
  path: string;
  type: "registry:component" | "registry:file";
  target?: string;
  content: string;
}

/** The data for `npx shadcn add`: the component, its parts and its styles. */
export function createRegistryItem(entry: CatalogueEntry) {
  return {
    $schema: "https://ui.shadcn.com/schema/registry-item.json",
    ...describe(entry),
    dependencies: ["@upstow/react"],
    files: listFiles(`components/${entry.slug}.tsx`),
    docs: "Put it inside an UpstowProvider from @upstow/react.",
  };
}

/** The index: every item without the text of its files. */
export function createRegistry(homepage: string) {
  return {
    $schema: "https://ui.shadcn.com/schema/registry.json",
    name: "upstow",
    homepage,
    items: catalogue.map((entry) => ({
      ...describe(entry),
      dependencies: ["@upstow/react"],
      files: listFiles(`components/${entry.slug}.tsx`).map(({ content: _, ...file }) => file),
    })),
  };
}

function describe({ name, slug, category, description }: CatalogueEntry) {
  return { name: slug, type: "registry:component", title: name, description, categories: [category] };
}

/** The file and its relative imports; the core stays in the package. */
function listFiles(start: string): RegistryFile[] {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    if (found.has(path)) return;
    const text = readFileSync(join(sources, path), "utf8");
    found.set(path, text);
    for (const [, imported = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
      const next = normalize(join(dirname(path), imported));
      if (!next.startsWith("core/")) visit(next);
    }
  };
  visit(start);
  const components = [...found.keys()].filter((path) => path.startsWith("components/"));
  const styles = ["base", ...components.map((path) => path.slice("components/".length, -".tsx".length))];
  return [
    ...[...found].map(([path, text]) => toComponentFile(path, text)),
    ...styles.map((name): RegistryFile => {
      const target = `${folder}/styles/${name}.css`;
      const content = readFileSync(join(sources, `styles/${name}.css`), "utf8");
      return { path: target, type: "registry:file", target, content };
    }),
  ];
}

function toComponentFile(path: string, text: string): RegistryFile {
  const name = path.replace(/^components\//, "");
  return { path: `${folder}/${name}`, type: "registry:component", content: adapt(name, text) };
}

/** Imports for the user's project: the core from the package, the rest relative, styles included. */
function adapt(name: string, text: string): string {
  const isPart = name.startsWith("parts/");
  const fromPackage = new Set<string>();
  const body = text
    .replaceAll(/import (type )?\{([^}]*)\} from "\.\.\/core\/[^"]+";\n/g, (_, type, names: string) => {
      for (const one of names.split(",")) {
        const wanted = one.trim();
        if (wanted !== "") fromPackage.add(type && !wanted.startsWith("type ") ? `type ${wanted}` : wanted);
      }
      return "";
    })
    .replaceAll(/from "\.\.\/parts\/([^"]+)\.tsx?"/g, 'from "./parts/$1"')
    .replaceAll(/from "(\.\/[^"]+)\.tsx?"/g, 'from "$1"')
    .replace(/^"use client";\n\n/, "");
  const imports = [
    ...(isPart ? [] : ['import "./styles/base.css";', `import "./styles/${name.replace(".tsx", ".css")}";`]),
    ...(fromPackage.size === 0
      ? []
      : [`import { ${[...fromPackage].sort().join(", ")} } from "@upstow/react";`]),
  ];
  // Pieces of a client component are client components.
  return `"use client";\n\n${imports.map((line) => `${line}\n`).join("")}${body}`;
}

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

type IconNode = [tag: string, attributes: Record<string, string>][];

const nodes: Record<string, IconNode> = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("lucide-static/icon-nodes.json"), "utf8"),
);

const toCamel = (name: string) => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const toKebab = (name: string) => name.replaceAll(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`);

/** Lucide's names of the icons in a source file. */
export function listIcons(source: string): string[] {
  return [...source.matchAll(/^export const (\w+)Icon =/gm)].map(([, name = ""]) => toKebab(name));
}

/** The source file with these icons. */
export function drawIcons(names: string[]): string {
  const lines = [...new Set(names)].sort().map((name) => {
    const node = nodes[name];
    if (node === undefined) throw new Error(`lucide has no icon "${name}"`);
    const shapes = node.map(([tag, attributes]) => {
      const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
      return `<${tag}${written.join("")}/>`;
    });
    const declaration = `export const ${toCamel(name)}Icon =`;
    const text = `'${shapes.join("")}';`;
    const isShort = declaration.length + 1 + text.length <= 110;
    return `${declaration}${isShort ? " " : "\n  "}${text}`;
  });
  return `// Written by test/write-icons.ts from lucide (ISC). Each is the content of an svg of 24 by 24.\n${lines.join("\n")}\n`;
}

// Draws docs/images/layers.svg from the imports of packages/server/src.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../packages/server/src", import.meta.url));
const picture = fileURLToPath(new URL("../docs/images/layers.svg", import.meta.url));

/** Lowest first: each imports only those before it. */
export const layers = [
  ...["kernel", "config", "db", "storage", "http", "projects", "webhooks", "files", "serving", "ops"],
  ...["dashboard", "site", "app"],
];

const purposes: Record<string, string> = {
  kernel: "errors, ids, time, keys, outgoing connections",
  config: "the environment, checked",
  db: "schema, statements, SQLite, PostgreSQL",
  storage: "the store's interface, disk, S3",
  http: "listener, limits, idempotency, errors, OpenAPI",
  projects: "projects, keys, routes, usage, logs, accounts",
  webhooks: "outbox, dispatcher, signing, event stream",
  files: "uploads, files, search, deletion",
  serving: "reading files, image variants",
  ops: "doctor, backup, moving",
  dashboard: "sign-in, members, admin",
  site: "docs, gallery, packages, tools",
  app: "puts it all together",
};

interface Layer {
  name: string;
  files: number;
  imports: Map<string, number>;
}

export function readLayers(): Layer[] {
  const files = globSync("**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".test.ts"));
  const layerOf = (path: string) => relative(root, path).split("/")[0] ?? "";
  return layers.map((name) => {
    const own = files.filter((file) => file.startsWith(`${name}/`));
    const imports = new Map<string, number>();
    for (const file of own) {
      const path = join(root, file);
      for (const [, target = ""] of readFileSync(path, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
        const layer = layerOf(join(dirname(path), target));
        if (layer !== name && layers.includes(layer)) imports.set(layer, (imports.get(layer) ?? 0) + 1);
      }
    }
    return { name, files: own.length, imports };
  });
}

const rowHeight = 44;
const boxWidth = 470;
const columnWidth = 34;
const left = 16;
const top = 96;

/** Layers from the top down; the number in row A, column B says how often A imports B. */
export function drawLayers(found: Layer[]): string {
  const rows = found.toReversed();
  const columns = rows.slice(1);
  const width = left * 2 + boxWidth + 24 + columns.length * columnWidth;
  const height = top + rows.length * rowHeight + 16;
  const columnX = (index: number) => left + boxWidth + 24 + index * columnWidth + columnWidth / 2;
  const heads = columns.map(
    ({ name }, i) =>
      `<text class="name" x="${columnX(i)}" y="${top - 12}" transform="rotate(-60 ${columnX(i)} ${top - 12})">${name}</text>`,
  );
  const lines = rows.map(({ name, files, imports }, i) => {
    const y = top + i * rowHeight;
    const counts = columns.map((column, c) => {
      const count = imports.get(column.name);
      if (count === undefined) return "";
      const strength = Math.min(1, 0.15 + count / 60).toFixed(2);
      return `<rect class="cell" x="${columnX(c) - 14}" y="${y + 5}" width="28" height="28" rx="4" fill-opacity="${strength}"/><text class="count" x="${columnX(c)}" y="${y + 24}">${count}</text>`;
    });
    return `<rect class="box" x="${left}" y="${y}" width="${boxWidth}" height="38" rx="6"/><text class="name" x="${left + 14}" y="${y + 24}">${name}</text><text class="purpose" x="${left + 104}" y="${y + 24}">${purposes[name]}</text><text class="files" x="${left + boxWidth - 12}" y="${y + 24}">${files}</text>${counts.join("")}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="13">
<title>The layers of the server and their imports</title>
<style>
.back { fill: #fff } .box { fill: #f4f5f8; stroke: #cfd3dc } .cell { fill: #4f6bed } .name { font-weight: 600; fill: #1b2130 }
.purpose, .files { fill: #525a6b } .count { fill: #1b2130; text-anchor: middle; font-size: 12px } .files { text-anchor: end }
@media (prefers-color-scheme: dark) {
.back { fill: #10131c } .box { fill: #1c2130; stroke: #353d52 } .name, .count { fill: #eef0f6 } .purpose, .files { fill: #a9b1c6 }
}
</style>
<rect class="back" width="100%" height="100%" rx="8"/>
<text class="purpose" x="${left}" y="24">Each layer imports only those below it.</text>
<text class="purpose" x="${left}" y="44">Right of it: how often it imports each of them. In the box: its files.</text>
${heads.join("\n")}
${lines.join("\n")}
</svg>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(picture, drawLayers(readLayers()));

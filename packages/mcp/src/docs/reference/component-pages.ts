import { CATEGORIES, type CatalogueEntry } from "@upstow/react/catalogue";
import type { DocPage } from "../docs-library.ts";
import { table } from "./api-pages.ts";

/** One page for each category of components, from the catalogue that the gallery shows. */
export function renderComponentPages(catalogue: CatalogueEntry[]): DocPage[] {
  return CATEGORIES.map((category) => {
    const entries = catalogue.filter((entry) => entry.category === category);
    const title = `Components: ${category}`;
    const summary = `Props and examples of ${entries.map(({ name }) => `\`${name}\``).join(", ")}.`;
    const live = "All of them are live in the [gallery](/components).";
    const markdown = `# ${title}\n\n${summary} ${live}\n\n${entries.map(renderEntry).join("\n")}`;
    return { path: `reference/components/${category}`, title, summary, markdown };
  });
}

function renderEntry({ name, slug, description, keywords, props, usage }: CatalogueEntry): string {
  const rows = props.map((prop) => [
    `\`${prop.name}\`${prop.isRequired ? ", needed" : ""}`,
    `\`${prop.type}\``,
    prop.description + (prop.default === undefined ? "" : ` Default: \`${prop.default}\`.`),
  ]);
  return `## ${name}

${description} Also known as: ${keywords.join(", ")}.

\`\`\`tsx
${usage.trim()}
\`\`\`

${table(["Prop", "Type", "Description"], rows)}

To copy its source into your project: \`npx shadcn add <your service>/r/${slug}.json\`
`;
}

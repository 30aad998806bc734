import { CATEGORIES, type CatalogueEntry } from "@upstow/react/catalogue";
import { z } from "zod";
import {
  PACKAGE_MANAGERS,
  PACKAGES,
  renderInstallCommand,
  USUAL_PACKAGES,
} from "../scaffolds/install-command.ts";
import { defineTool, type Sources, shortText, ToolError } from "../tool.ts";

export const listComponents = defineTool({
  name: "list_components",
  title: "List components",
  description: "Lists the React upload components, all or by category, with a one-sentence description.",
  input: z.object({ category: z.enum(CATEGORIES).optional().describe("Only this category") }),
  run: ({ catalogue }, { category }) => ({
    components: catalogue
      .filter((entry) => category === undefined || entry.category === category)
      .map(toSummary),
  }),
});

export const getComponent = defineTool({
  name: "get_component",
  title: "Get a component",
  description: "Describes one component: its props and a complete example that compiles.",
  input: z.object({ name: shortText.describe("Such as UploadDropzone or upload-dropzone") }),
  run: (sources, { name }) => ({ component: getEntry(sources, name) }),
});

export const searchComponents = defineTool({
  name: "search_components",
  title: "Search components",
  description: "Finds components by appearance or purpose; tolerates typos.",
  input: z.object({ query: shortText.describe("Such as 'avatar crop' or 'glass dropzone'") }),
  run: (sources, { query }) => ({ components: sources.searchComponents(query).map(toSummary) }),
});

export const getInstallCommand = defineTool({
  name: "get_install_command",
  title: "Get the install command",
  description:
    "Returns the command that installs Upstow's packages from this instance with your package manager.",
  input: z.object({
    packageManager: z.enum(PACKAGE_MANAGERS).optional().describe("Default: npm"),
    packages: z
      .array(z.enum(PACKAGES))
      .min(1)
      .max(20)
      .optional()
      .describe("Default: @upstow/sdk and @upstow/react"),
  }),
  run: ({ instanceUrl }, { packageManager = "npm", packages = USUAL_PACKAGES }) =>
    renderInstallCommand(instanceUrl, packageManager, packages),
});

function getEntry({ catalogue }: Sources, name: string): CatalogueEntry {
  const wanted = name.toLowerCase();
  const entry = catalogue.find((known) => known.name.toLowerCase() === wanted || known.slug === wanted);
  if (entry === undefined)
    throw new ToolError(`There is no component "${name}"; list_components lists them all.`);
  return entry;
}

export function toSummary({ name, slug, category, description }: CatalogueEntry) {
  return { name, slug, category, description };
}

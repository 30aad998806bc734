// Every example of the catalogue as a module, for the pages that show and test them: what runs is what people copy.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { catalogue } from "@upstow/react/catalogue";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

/** Answers `import { examples } from "virtual:examples"`: components by slug. */
export const examplesPlugin = {
  name: "examples",
  setup(builder) {
    builder.onResolve({ filter: /^virtual:examples$|^example:/ }, ({ path }) => ({
      path,
      namespace: "examples",
    }));
    builder.onLoad({ filter: /.*/, namespace: "examples" }, ({ path }) => {
      const entry = catalogue.find(({ slug }) => path === `example:${slug}`);
      return { contents: entry?.usage ?? listExamples(), loader: "tsx", resolveDir: here };
    });
  },
};

function listExamples() {
  const imports = catalogue.map(({ slug }, i) => `import Example${i} from "example:${slug}";`);
  const pairs = catalogue.map(({ slug }, i) => `${JSON.stringify(slug)}: Example${i}`);
  return `${imports.join("\n")}\nexport const examples = { ${pairs.join(", ")} };`;
}

/** The test page: its scripts for the browser, its styles, and what renders it on a server. */
export async function bundleHarness() {
  const common = {
    bundle: true,
    write: false,
    format: "esm",
    jsx: "automatic",
    jsxDev: true,
    plugins: [examplesPlugin],
    define: { "process.env.NODE_ENV": '"development"' },
  };
  const [client, server] = await Promise.all([
    build({ ...common, entryPoints: [join(here, "client.tsx")], outdir: "/out" }),
    build({
      ...common,
      entryPoints: [join(here, "server.tsx")],
      platform: "node",
      external: ["react", "react-dom", "react/jsx-dev-runtime"],
    }),
  ]);
  const pick = (ending) => client.outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return { script: pick(".js"), styles: pick(".css"), server: server.outputFiles[0]?.text ?? "" };
}

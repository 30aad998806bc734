import { CATEGORIES, type CatalogueEntry, catalogue } from "@upstow/react/catalogue";
import { escapeHtml } from "@upstow/site/escape";
import { renderMarkdown, renderTabSet } from "@upstow/site/markdown";

export interface Assets {
  script: string;
  styles: string;
}

const controls = `<form class="gallery-controls" data-controls aria-label="Preview settings">
<label>Accent <select name="accent"><option value="">Violet</option><option value="rose">Rose</option><option value="teal">Teal</option><option value="ink">Ink</option></select></label>
<label>Corners <input type="range" name="radius" min="0" max="24" value="12"></label>
<label><input type="checkbox" name="rtl"> Right to left</label>
<label><input type="checkbox" name="fails"> Let the next upload fail</label>
</form>`;

/** None where nothing can be uploaded. */
const samplesButton = ({ slug, name, category }: CatalogueEntry) =>
  category === "display"
    ? ""
    : `<button type="button" class="gallery-samples" data-samples="${slug}" aria-label="Try it: ${name}">Try it</button>`;

const demo = ({ slug }: CatalogueEntry) => `<div class="gallery-demo" data-demo="${slug}"></div>`;

const load = ({ script, styles }: Assets) =>
  `<link rel="stylesheet" href="/components/assets/${styles}"><script type="module" src="/components/assets/${script}"></script>`;

const code = (text: string, language: string) =>
  renderMarkdown(`\`\`\`${language}\n${text.trimEnd()}\n\`\`\``, "").html;

/** All components, live, by category. */
export function renderOverview(assets: Assets, publicUrl: string): string {
  const links = CATEGORIES.map((category) => `<li><a href="#${category}">${category}</a></li>`);
  const groups = CATEGORIES.map((category) => {
    const cards = catalogue.filter((entry) => entry.category === category).map(renderCard);
    return `<h2 id="${category}">${category}</h2>\n<ul class="gallery-cards">${cards.join("\n")}</ul>`;
  });
  return `${load(assets)}<main id="content" class="gallery">
<h1>${catalogue.length} components for React</h1>
<p class="lead">Every component is live. Choose, drop or paste files, or press Try it. Uploads are simulated, so nothing leaves this page. All of them build on one headless hook, <code>useUpload</code>.</p>
${code(`npm install ${publicUrl}/packages/sdk.tgz ${publicUrl}/packages/react.tgz\nnpx shadcn add ${publicUrl}/r/upload-dropzone.json   # or copy the source`, "sh")}
<nav aria-label="Categories"><ul class="gallery-categories">${links.join("")}</ul></nav>
${controls}
${groups.join("\n")}
</main>`;
}

function renderCard(entry: CatalogueEntry): string {
  return `<li class="gallery-card" data-category="${entry.category}">
<div class="gallery-head"><h3><a href="/components/${entry.slug}">${entry.name}</a>${samplesButton(entry)}</h3>
<p>${escapeHtml(entry.description)}</p></div>
${demo(entry)}
<details><summary>Code</summary>${code(entry.usage, "tsx")}</details>
</li>`;
}

const managers = [
  ["npm", "npm install"],
  ["pnpm", "pnpm add"],
  ["yarn", "yarn add"],
  ["bun", "bun add"],
] as const;

/** One component with everything there is to say about it. */
export function renderComponent(entry: CatalogueEntry, assets: Assets, publicUrl: string): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = entry.props.map(
    ({ name, type, isRequired, default: usual, description }) =>
      `| \`${name}\`${isRequired ? " *" : ""} | \`${cell(type)}\` | ${usual === undefined ? "" : `\`${cell(usual)}\``} | ${cell(description)} |`,
  );
  const packages = `${publicUrl}/packages/sdk.tgz ${publicUrl}/packages/react.tgz`;
  const install = managers.map(
    ([name, command]) => `<!-- tab: ${name} -->\n\n\`\`\`sh\n${command} ${packages}\n\`\`\`\n`,
  );
  const markdown = `## Install

<!-- tabs: package manager -->

${install.join("\n")}
<!-- /tabs -->

Put it inside an \`UpstowProvider\` and import \`@upstow/react/styles.css\` once. Or copy its source into your project:

\`\`\`sh
npx shadcn add ${publicUrl}/r/${entry.slug}.json
\`\`\`

## Props

| Name | Type | Default | Description |
|---|---|---|---|
${rows.join("\n")}
`;
  return `${load(assets)}<main id="content" class="gallery gallery-one" data-category="${entry.category}">
<p class="gallery-path"><a href="/components">Components</a> / <a href="/components#${entry.category}">${entry.category}</a></p>
<h1>${entry.name}</h1>
<p class="lead">${escapeHtml(entry.description)}</p>
${renderTabSet("view", "view", [
  { name: "Preview", html: `${controls.replace("</form>", `${samplesButton(entry)}</form>`)}${demo(entry)}` },
  { name: "Code", html: code(entry.usage, "tsx") },
])}
<article>${renderMarkdown(markdown, "").html}</article>
</main>`;
}

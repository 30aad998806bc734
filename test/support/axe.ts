import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules whose outcome can differ between a light and a dark page. */
const colourRules = ["color-contrast", "link-in-text-block"];

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

interface Wanted {
  /** Only what is serious or critical. */
  onlySerious?: boolean;
  /** Only what the colour scheme changes, on a page whose other scheme was looked at in full. */
  onlyColours?: boolean;
}

/** What axe finds on a page, one line for each element. */
export async function findBarriers(page: Page, wanted: Wanted = {}): Promise<string[]> {
  const { onlySerious = false, onlyColours = false } = wanted;
  // Through the debugger: the page's own policy would refuse it, as it should.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  // Told what is asked for, axe does not describe everything that is in order as well.
  const options = { resultTypes: ["violations"], ...(onlyColours && { runOnly: colourRules }) };
  const run = `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`;
  const findings = (await page.evaluate(run)) as Finding[];
  return findings
    .filter(({ impact }) => !onlySerious || impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 300)}`),
    );
}

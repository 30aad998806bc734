import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Told what is asked for, it does not describe everything that is in order as well. */
const run = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)";

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds on a page, one line for each element; all of it, or what is serious or critical. */
export async function findBarriers(page: Page, { onlySerious = false } = {}): Promise<string[]> {
  // Through the debugger: the page's own policy would refuse it, as it should.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  const findings = (await page.evaluate(run)) as Finding[];
  return findings
    .filter(({ impact }) => !onlySerious || impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 300)}`),
    );
}

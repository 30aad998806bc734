import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./doc-files.ts";

export interface Suite {
  title: string;
  /** What its cases are, and where they come from. */
  about: string;
  file: string;
  /** Its cases have a column for each of these, and begin with them in the suite. */
  versions?: string[];
  /** Its tests show what is not supported. */
  isMissing?: boolean;
}

export const suites: Suite[] = [
  {
    title: "tus 1.0",
    about: "Upstow's own tests of the protocol and its extensions. There is no official suite.",
    file: "packages/server/test/tus.test.ts",
  },
  {
    title: "tus-js-client in Node.js",
    about: "Through a proxy that cuts connections and loses responses.",
    file: "packages/server/test/tus-client.test.ts",
  },
  {
    title: "tus-js-client and Uppy Tus in Chromium",
    about: "Through a proxy that cuts every request after 64 KiB, with a reload of the page in between.",
    file: "packages/server/test/browser-uploads.slow.test.ts",
  },
  {
    title: "tuspy of Debian",
    about: "Through a proxy that cuts every request after 64 KiB, with a second process in between.",
    file: "packages/server/test/tuspy.slow.test.ts",
  },
  {
    title: "IETF resumable uploads",
    about:
      "The 51 cases of the\n[public conformity suite](https://github.com/tomdesair/tus-java-server/blob/master/scripts/rufh_conformity_test.py), by\ntheir names there, for each interop version.",
    file: "packages/server/test/resumable-conformity.test.ts",
    versions: ["5", "6", "8"],
  },
  {
    title: "Not supported",
    about: "Features that third-party clients and suites use and this service doesn't support.",
    file: "packages/server/test/not-supported.test.ts",
    isMissing: true,
  },
];

/** How a test ended, by its name: on the disk, and with files in a bucket. */
export type Results = Map<string, { disk: Cell; bucket: Cell }>;
export type Cell = "passed" | "failed" | "absent" | "skipped";

const signs = { passed: "yes", failed: "no", absent: "–", skipped: "–" };

/** False where this machine lacks what the suite needs: the page then keeps what an earlier run has shown. */
export const couldRun = (results: Results): boolean =>
  results.size > 0 && ![...results.values()].some((cells) => Object.values(cells).includes("skipped"));

/** The page with the section of this suite as it is now; sections follow the order of the suites. */
export function fillSuite(page: string, suite: Suite, results: Results): string {
  if (!couldRun(results)) return page;
  const [intro = "", ...sections] = page.split(/^(?=## )/m);
  const titleOf = (section: string) => section.slice(3, section.indexOf("\n"));
  const kept = new Map(sections.map((section) => [titleOf(section), section.trimEnd()]));
  kept.set(suite.title, writeSuite(suite, results));
  const written = suites.map(({ title }) => kept.get(title)).filter((section) => section !== undefined);
  return `${[intro.trimEnd(), ...written].join("\n\n")}\n`;
}

function writeSuite(suite: Suite, results: Results): string {
  const head = `## ${suite.title}\n\n${suite.about}\n\n`;
  if (suite.isMissing === true)
    return `${head}${table(
      ["Case", ""],
      [...results.keys()].map((name) => [name, signs.failed]),
    )}`;
  const { versions } = suite;
  if (versions === undefined) {
    const rows = [...results].map(([name, { disk, bucket }]) => [name, signs[disk], signs[bucket]]);
    return head + table(["Case", "Disk", "Bucket"], rows);
  }
  const [first = ""] = versions;
  const prefix = (version: string) => `version ${version}: `;
  const cases = [...results.keys()].filter((name) => name.startsWith(prefix(first)));
  const rows = cases.map((name) => {
    const bare = name.slice(prefix(first).length);
    const cells = versions.map((version) => {
      const { disk, bucket } = results.get(prefix(version) + bare) ?? { disk: "absent", bucket: "absent" };
      return signs[disk === "passed" && bucket === "failed" ? bucket : disk];
    });
    return [`\`${bare}\``, ...cells];
  });
  return head + table(["Case", ...versions.map((version) => `Version ${version}`)], rows);
}

const table = (columns: string[], rows: string[][]) =>
  [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** What a page says of a suite, by the names of its cases: enough to see that it belongs to the suites of today. */
export function readRows(page: string, { title }: Suite): string[] {
  const [, section = ""] = page.split(`## ${title}\n`);
  const [own = ""] = section.split(/^## /m);
  return [...own.matchAll(/^\| `?([^|]+?)`? \|/gm)].map(([, name = ""]) => name).slice(2);
}

const testCall =
  /^[ \t]*(?:for \(.*\) )?(?:it|onlyOnDisk\("[^"\n]*"\))\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/gm;

/** The names of a suite's tests as its file writes them. Where they have a part from a loop, that is `${…}`. */
export const listTests = ({ file }: Suite): string[] =>
  [...readFileSync(join(root, file), "utf8").matchAll(testCall)].map(([, , name = ""]) => name);

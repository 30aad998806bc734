// Words and patterns that texts for readers avoid, over docs, messages and labels; part of `npm run check`.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a reader stumbles over, and what to write instead. */
const patterns = [
  [/\d %/, 'write "13%" without a space'],
  [/\be-mail/i, '"email"'],
  [/\d (?:an?|each|every) (?:second|minute|hour|day|month)\b/, '"30 per minute"'],
  [
    /(?<!connection |default: )\brefus(?:e|ed|es|ing|al|als)\b(?! to\b)/i,
    '"reject", "rejected", "rejection"',
  ],
  [/\bgiv(?:e|es|en|ing) out\b/i, '"serve", "served"'],
  [/\bhears? of\b/i, '"is notified of", "is called for"'],
  [/\bbegun anew|\banew\b/i, '"restarted", "again"'],
  [/\b(?:chosen|choose none)\b/i, '"selected"'],
  [/\bwhoever\b/i, '"anyone who"'],
  [/\bsomebody\b/i, '"someone"'],
  [/\bbeside\b/i, '"next to", "besides", "with"'],
  [/\b(?:URL|address) of (?:its|their|your) own\b/i, '"its own URL"'],
  [/\b(?:goes|go|went) on\b(?! (?:top|disk|the|a)\b)/i, '"continue"'],
  [/\bunder way\b/i, '"in progress"'],
  [/\banswers? (?:with )?[1-5]\d\d\b/i, '"returns 404"'],
  [/\bturn the knobs\b/i, '"adjust"'],
  [/\b(?:the|web|your) console\b(?! (?:tab|of the browser))/i, '"dashboard"'],
  [/\bdoes not hold\b/i, '"is invalid"'],
  [/\btakes? no (?:files?|uploads?|part)\b/i, '"does not accept"'],
  [/\bsend many again\b|\bdeliver(?:ed)? again\b/i, '"resend"'],
  [/\bfor certain\b/i, '"reliably"'],
  [
    /\bof (?:its|their|your|our|my) own\b(?! (?:assets|code|instance|network|proxies)\b)/i,
    '"its own …", "custom"',
  ],
  [/\bholds? (?:at once|immediately)\b/i, '"takes effect immediately"'],
  [/\bmend(?:s|ed|ing)?\b/i, '"fix", "repair"'],
  [/\banswers? is [1-5]\d\d\b|\banswered with (?:a |status )?[1-5]\d\d\b/i, '"returns 404"'],
  [/\b(?:one|a) unit a month\b|\ban? (?:second|minute|hour|day|month) (?:each|apiece)\b/i, '"per month"'],
  [/\bfound out\b|\bfinds out which\b/i, '"determined", "detects"'],
  [/\bthat (?:is|are) none\b|\bis no (?:number|JSON|test|moment|URL)\b/i, '"is not a …", "invalid"'],
  [/\bget(?:s)? on\b(?! (?:a|the)\b)/i, '"advance", "continue"'],
  [/\b(?:when left out|unless given)\b/i, '"default: …"'],
  [
    /\b(?:does|do|did)(?: not|n't) answer\b|\bnothing (?:answers|listens|matches)\b/i,
    '"does not respond", "no matching …"',
  ],
  [/\bstands? still\b/i, '"hangs", "stalls"'],
  [/(?<!by )\bhand(?:s|ed)? on\b/i, '"forwards", "passes on"'],
  [/\b(?:is|are|was|were) (?!there\b)\w+ already\b|\bthere already (?:is|was)\b/i, '"is already …"'],
  [/\b(?:asks?|asked) for (?:a|an|the) (?:URL|presigned|offset)\b/i, '"requests a URL"'],
  [/\bas (?:it|they) (?:stands?|lies?)\b/i, '"unchanged", "in place"'],
  [/\b(?:was|were|is|are) given up\b/i, '"abandoned", "cancelled"'],
  [
    /\btakes? (?:no|only|exactly) \w+ (?:bytes|keys|files|value)\b|\btakes? no (?:value|bytes|changes|keys)\b/i,
    '"accepts"',
  ],
  [/\bevery(?:thing|body) (?:is|are) there\b|\ball there\b/i, '"all files are uploaded"'],
];

/** Records of runs, which quote what commands print and what tests are called. */
const records = ["docs/compatibility.md", "docs/performance.md", "docs/reliability.md"];
const docs = [
  "README.md",
  "AGENTS.md",
  "CONTRIBUTING.md",
  "docs/*.md",
  "docs/{adr,concepts,guides,migrate,reference}/**/*.md",
  "packages/*/README.md",
  "{bench,examples,examples/*,test/apps}/README.md",
];
const sources = [
  "packages/{cli,contract,gallery,kit,mcp,react,sdk,server,site,uppy}/src/**/*.{ts,tsx,js}",
  "packages/dashboard/app/**/*.{ts,tsx}",
];

const blank = (text) => text.replaceAll(/[^\n]/g, " ");

/** The sentences of a page: without code, addresses and what a command printed. */
export function readMarkdown(text) {
  return text
    .replaceAll(/^ *(```|~~~)[\s\S]*?^ *\1/gm, blank)
    .replaceAll(/`[^`\n]*`/g, blank)
    .replaceAll(/\]\([^)\s]*\)|<!--[\s\S]*?-->/g, blank);
}

// Strings without a space are read too, or the code between two of them would look like one.
const string = /"(?:\\.|[^"\\\n])*"|`[^`\n]*`/;
const betweenTags = /(?<=[>}])[^<>{}=;()&|`"]* [^<>{}=;()&|`"]*(?=[<{])/;
const inScripts = new RegExp(string.source, "g");
const inPages = new RegExp(`${string.source}|${betweenTags.source}`, "g");

/** What a source file shows to people: its strings with a space in them, and the text between tags where it has some. */
export function readSource(text, hasTags = true) {
  const bare = text
    .replaceAll(/^\s*(?:\/\/|\*|\/\*).*$|\s\/\/ .*$|^import .*$|className="[^"]*"/gm, blank)
    .replaceAll(/\$\{[^}\n]*\}/g, blank);
  let end = 0;
  let readable = "";
  for (const { 0: found, index } of bare.matchAll(hasTags ? inPages : inScripts)) {
    readable += blank(bare.slice(end, index)) + (found.includes(" ") ? found : blank(found));
    end = index + found.length;
  }
  return readable;
}

/** One line for each finding, as "docs/s3.md:12: …". */
export function findProse(text, name) {
  const readable = name.endsWith(".md") ? readMarkdown(text) : readSource(text, !name.endsWith(".ts"));
  return readable.split("\n").flatMap((line, i) =>
    patterns.flatMap(([pattern, better]) => {
      const [found] = pattern.exec(line) ?? [];
      return found === undefined ? [] : [`${name}:${i + 1}: "${found.trim()}": ${better}`];
    }),
  );
}

export function checkProse(root) {
  return [...docs, ...sources]
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .filter((name) => !records.includes(name) && !name.includes(".test."))
    .flatMap((name) => findProse(readFileSync(join(root, name), "utf8"), name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const findings = checkProse(join(import.meta.dirname, ".."));
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}

import { readFileSync } from "node:fs";

export interface SdkCall {
  /** As it is written: `upstow.files.get(key, options?)`. */
  call: string;
  about: string;
}

/** Where each part of the client is made, and how callers reach it. */
const factories = [
  { file: "api/client.ts", factory: "createUpstow", prefix: "upstow" },
  { file: "api/uploads.ts", factory: "createUploads", prefix: "upstow.uploads" },
  { file: "api/files.ts", factory: "createFiles", prefix: "upstow.files" },
  { file: "api/links.ts", factory: "createLinks", prefix: "upstow.links" },
  { file: "api/grants.ts", factory: "createGrants", prefix: "upstow.grants" },
  { file: "api/projects.ts", factory: "createProjects", prefix: "upstow.projects" },
  { file: "api/projects.ts", factory: "createRouters", prefix: "upstow.routers" },
  { file: "api/projects.ts", factory: "createKeys", prefix: "upstow.keys" },
  { file: "api/webhooks.ts", factory: "createWebhooks", prefix: "upstow.webhooks" },
];

/** Every call of the server-side client, as its factories spell them. */
export function readSdkCalls(sdkFolder: string): SdkCall[] {
  return factories.flatMap(({ file, factory, prefix }) => {
    const source = readFileSync(`${sdkFolder}/${file}`, "utf8");
    const from = source.indexOf(`export function ${factory}(`);
    const returned = source.indexOf("  return {", from);
    return readMethods(source.slice(returned, source.indexOf("\n}", from)), prefix);
  });
}

function readMethods(source: string, prefix: string): SdkCall[] {
  const found: SdkCall[] = [];
  let group = "";
  const member =
    /(?:\/\*\* ([^\n]*) \*\/\n)?^( {4}| {6})(?:(\w+): \{$|(?:async )?(\w+)(?:: (?:async )?)?(?:<[^(]*>)?\(([^)]*)\)(?::[^\n]*)?(?: =>| \{))/gm;
  for (const [, about = "", indent = "", opened, name, args = ""] of source.matchAll(member)) {
    if (indent.length === 4) group = opened === undefined ? "" : `.${opened}`;
    if (name === undefined || (indent.length === 6 && group === "")) continue;
    const place = indent.length === 6 ? prefix + group : prefix;
    found.push({ call: `${place}.${name}(${plainArguments(args)})`, about });
  }
  return found;
}

/** Names only; a question mark where one may be left out. */
function plainArguments(args: string): string {
  return [...args.matchAll(/(?:^|,)\s*(\w+)(\??):((?:\{[^}]*\}|[^,{])*)/g)]
    .map(([, name, mark, rest = ""]) => `${name}${mark === "?" || rest.includes(" = ") ? "?" : ""}`)
    .join(", ");
}

/** A change to a file of an application: all of it, or a replacement in it. */
export type Edit = string | ((text: string) => string);

export interface AppRow {
  /** What `npm run test:apps -- word` looks for. */
  name: string;
  /** One of `package.json`, with its arguments. Where there is none, or it fetches from GitHub, `files` hold all. */
  generator?: (folder: string) => string[];
  manager?: ManagerName;
  /** Where the command comes from that sets it up; by hand, the SDK alone is installed. Packages come from the running
   * instance in any case. */
  initFrom?: "checkout" | "instance" | "by hand";
  /** Instead of init: a page of `docs/guides`, of which every file is written and every command run. */
  guide?: string;
  /** Before `upstow init`. */
  files: Record<string, Edit>;
  /** After it: the page, and what its notes ask for. */
  changes: Record<string, Edit>;
  /** Where init wrote the rules of uploads. */
  handler?: string | undefined;
  /** Each is run by the package manager. */
  build: string[][];
  /** Run by node. Where there is none, the commands above are the test. */
  serve?: (port: number) => string[];
  /** Svelte has no components of ours. */
  hasComponents?: false;
}

export type ManagerName = "npm" | "pnpm" | "yarn 1" | "yarn 4" | "bun";

/** Set by the application's class or by Tailwind's utility, and by nothing else. */
export const ownColour = "rgb(1, 2, 3)";
export const ownClass = `.own-button {\n  background-color: ${ownColour};\n}\n`;
export const utility = "bg-[rgb(1,2,3)]";

export const replace =
  (from: string | RegExp, to: string): Edit =>
  (text) => {
    const after = text.replace(from, () => to);
    if (after === text) throw new Error(`${from} is not in:\n${text}`);
    return after;
  };

export const append =
  (more: string): Edit =>
  (text) =>
    `${text}\n${more}`;
/** The same in every application, so that their pictures can be compared. */
export const demo = (
  className = "own-button",
) => `import { UploadButton, UploadDropzone } from "@upstow/react";
import { useState } from "react";

export default function Demo() {
  const [urls, setUrls] = useState<string[]>([]);
  return (
    <div id="demo">
      <UploadDropzone route="image" onUploaded={({ file }) => setUrls((known) => [...known, file.url])} />
      <UploadButton route="image" classNames={{ button: "${className}" }} />
      {urls.map((url) => <a key={url} href={url}>{url}</a>)}
    </div>
  );
}
`;

export const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

export const pagePackages = { react: "19", "react-dom": "19" };

import type { PropEntry } from "./entry.ts";

export function prop(
  name: string,
  type: string,
  description: string,
  extra: { isRequired?: boolean; default?: string } = {},
): PropEntry {
  return { name, type, description, isRequired: false, ...extra };
}

const shared: PropEntry[] = [
  prop("route", "string", "A route of your backend's file router. Required unless `upload` is set."),
  prop("upload", "Upload", "The return value of `useUpload`, to share one list between components."),
  prop("input", "unknown", "The route's input, if it declares one."),
  prop(
    "accept",
    "readonly FileType[]",
    "MIME types (`image/*`, or `image` for short) or extensions (`.csv`). Defaults to the types that the route accepts.",
  ),
  prop("maxFileSize", "number", "In bytes. Defaults to the limit of the route."),
  prop("maxFileCount", "number", "Files in the list. With 1, a new file replaces the old one."),
  prop("autoStart", "boolean", "False holds new files until `start` is called.", {
    default: "true",
  }),
  prop("isDisabled", "boolean", "Accepts no files and appears dimmed.", { default: "false" }),
  prop(
    "validate",
    "(file: File) => string | null",
    "Return a sentence to reject the file, null to accept it.",
  ),
  prop("onAdded", "(items: UploadItem[]) => void", "Called after files were selected, dropped or pasted."),
  prop(
    "onUploaded",
    "({ file, item }) => void",
    "Called once for every file that your backend has confirmed.",
  ),
  prop("onFailed", "({ error, item }) => void", "Called for every rejected or failed file."),
  prop(
    "onAllDone",
    "(items: readonly UploadItem[]) => void",
    "Called when every upload has finished and none failed.",
  ),
];

/** The props of every component that creates its own list, minus the given names. */
export function sharedProps(...without: string[]): PropEntry[] {
  return shared.filter(({ name }) => !without.includes(name));
}

export function slots(...names: string[]): PropEntry {
  const type = `{ ${names.map((name) => `${name}?: string`).join("; ")} }`;
  return prop("classNames", type, "Your own classes, added to each part's.");
}

/** The shortest complete example: one component, one callback. */
export function simpleUsage(name: string, attributes = "", children = ""): string {
  const given = `route="files"${attributes === "" ? "" : ` ${attributes}`}`;
  const open = `<${name} ${given} onUploaded={({ file }) => console.log(file.url)}`;
  const element = children === "" ? `${open} />` : `${open}>${children}</${name}>`;
  return wholeUsage([name], `  return ${element};`);
}

export function wholeUsage(names: string[], body: string, imports = ""): string {
  return `"use client";

import { ${names.join(", ")} } from "@upstow/react";
${imports}
export default function Example() {
${body}
}
`;
}

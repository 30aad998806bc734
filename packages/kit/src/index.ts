import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const { resolve } = createRequire(import.meta.url);
const folder = fileURLToPath(new URL("./", import.meta.url));

/** All styles of the kit as one text. Built pages let their bundler follow `kit.css` instead. */
export function readKitStyles(): string {
  const imports = readFileSync(`${folder}kit.css`, "utf8").matchAll(/@import "\.\/([^"]+)"/g);
  return [...imports].map(([, name = ""]) => readFileSync(folder + name, "utf8")).join("");
}

/** The URLs that `fonts.css` names, each with the file behind it. */
export function listFonts(): Map<string, string> {
  const urls = readFileSync(`${folder}fonts.css`, "utf8").matchAll(/url\("([^"]+)"\)/g);
  return new Map(
    [...urls].map(([, url = ""]) => {
      const file = url.slice(url.lastIndexOf("/") + 1);
      const font = file.startsWith("geist-mono") ? "geist-mono" : "geist";
      return [url, resolve(`@fontsource-variable/${font}/files/${file}`)];
    }),
  );
}

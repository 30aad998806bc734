/** Shorter than the 255 bytes of every file system, with room for a number. */
const mostBytes = 200;
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Gives each file a name that every system can unpack: without folders, hidden characters and what Windows refuses, and
 * never twice, even where upper and lower case are the same.
 */
export function createArchiveNames(): (fileName: string) => string {
  const taken = new Set<string>();
  return (fileName) => {
    const { stem, extension } = split(toSafe(fileName));
    let name = stem + extension;
    for (let n = 2; taken.has(fold(name)); n++) name = `${stem} (${n})${extension}`;
    taken.add(fold(name));
    return name;
  };
}

const fold = (name: string) => name.normalize("NFC").toLowerCase();

function toSafe(fileName: string): string {
  const plain = fileName
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replaceAll(/[/\\<>:"|?*]/g, "_")
    .replace(/[. ]+$/, "");
  if (plain === "") return "_";
  return devices.test(plain) ? `_${plain}` : plain;
}

function split(name: string): { stem: string; extension: string } {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^. ]{1,16})?$/su.exec(name) ?? [];
  let short = stem;
  while (Buffer.byteLength(short + extension) > mostBytes) short = [...short].slice(0, -1).join("");
  return { stem: short, extension };
}

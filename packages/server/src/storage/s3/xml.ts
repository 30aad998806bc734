import { setImmediate as nextTurn } from "node:timers/promises";
import { SaxesParser } from "saxes";

export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

// An S3 response has four levels, and a list of 1,000 uploads has about 11,000 elements.
const mostDepth = 16;
const mostElements = 20_000;
/** Takes a few milliseconds, whatever it contains, because the parser is linear. */
const sliceCharacters = 16 * 1024;

/** Null for anything but XML. Blocking, so only for short texts. */
export function parseXml(source: string): XmlElement | null {
  const builder = createBuilder();
  builder.write(source.trimStart());
  return builder.end();
}

/** The same for long texts: others get their turn in between. */
export async function parseLongXml(source: string): Promise<XmlElement | null> {
  if (source.length <= sliceCharacters) return parseXml(source);
  const builder = createBuilder();
  // Amazon sends spaces before the response while it is working, and a declaration must come first.
  const text = source.trimStart();
  for (let start = 0; start < text.length; start += sliceCharacters) {
    if (!builder.write(text.slice(start, start + sliceCharacters))) return null;
    await nextTurn();
  }
  return builder.end();
}

/** Strict; only XML's five built-in entities are known, so a response cannot blow up. */
function createBuilder() {
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  let root: XmlElement | null = null;
  let elements = 0;
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
    if (++elements > mostElements || open.length >= mostDepth) throw new Error("not an S3 response");
    const element = { name, text: "", children: [] };
    root ??= element;
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  const addText = (text: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += text;
  };
  parser.on("text", addText);
  parser.on("cdata", addText);
  parser.on("closetag", () => void open.pop());
  let isXml = true;
  const attempt = (work: () => unknown) => {
    try {
      work();
    } catch {
      isXml = false;
    }
    return isXml;
  };
  return {
    /** Whether it is valid XML so far. */
    write: (text: string) => isXml && attempt(() => parser.write(text)),
    end: () => (isXml && attempt(() => parser.close()) ? root : null),
  };
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

export function findChild(element: XmlElement, name: string): XmlElement | null {
  return element.children.find((child) => child.name === name) ?? null;
}

export function textOf(element: XmlElement | null, name: string): string {
  return (element && findChild(element, name)?.text) ?? "";
}

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"\r]/g, (character) => escapes[character] ?? "");
}

/** XML 1.0 has no way to write these characters. */
export function canBeXml(text: string): boolean {
  return /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u.test(text);
}

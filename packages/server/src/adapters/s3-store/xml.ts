import { SaxesParser } from "saxes";

export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/** Strict; no entity but XML's own five is known, so an answer cannot blow up. Null for anything else than XML. */
export function parseXml(source: string): XmlElement | null {
  const parser = new SaxesParser();
  const open: XmlElement[] = [];
  let root: XmlElement | null = null;
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name }) => {
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
  try {
    // Amazon sends blanks before the answer while it works on it, and a declaration must come first.
    parser.write(source.trimStart()).close();
    return root;
  } catch {
    return null;
  }
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

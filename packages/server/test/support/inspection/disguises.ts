import { isNameOf } from "../../../src/files/inspection/judge-type.ts";
import { makeGenuineFiles } from "./genuine-files.ts";
import { makeZip } from "./make-zip.ts";

export interface Disguise {
  name: string;
  declared: string;
  bytes: Buffer;
}

const others = ["image/png", "application/pdf", "video/mp4", "application/msword", "font/woff2"];
const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

export async function makeGenuine(): Promise<Disguise> {
  const found = (await makeGenuineFiles()).find(({ name }) => name === "a.png");
  if (found === undefined) throw new Error("there is no PNG");
  return found;
}

/** Every genuine file under a name that is not its own, and what is no genuine file of any format. */
export async function makeDisguises(): Promise<Disguise[]> {
  const files = await makeGenuineFiles();
  const find = (name: string) => files.find((file) => file.name === name)?.bytes ?? Buffer.alloc(0);
  const renamed = files
    .filter(({ name }) => name !== "a.msi")
    .map(({ name, type, bytes }, i) => {
      const turned = [...others.slice(i % others.length), ...others];
      const declared = turned.find((other) => !isNameOf(other, type ?? "none")) ?? "";
      return { name: `${name} as ${declared.replace("/", "-")}`, declared, bytes };
    });
  const made: [name: string, declared: string, bytes: Buffer][] = [
    ["noise", "image/jpeg", Buffer.alloc(300, 9)],
    ["noise of an unknown kind", "image/x-mine", Buffer.alloc(300, 9)],
    ["one byte", "image/png", Buffer.from("P")],
    ["script that is a GIF", "image/gif", Buffer.from("GIF89a/*\n*/=1;alert(1)//")],
    ["GIF and page", "text/html", Buffer.concat([find("a.gif"), find("a.html")])],
    ["PDF and ZIP", "application/zip", Buffer.concat([find("a.pdf"), find("a.zip")])],
    [
      "document and app",
      docx,
      makeZip({ "[Content_Types].xml": "x", "word/a": "x", "AndroidManifest.xml": "x" }),
    ],
    ["macros", docx, makeZip({ "[Content_Types].xml": "x", "word/a": "x", "word/VBAProject.bin": "x" })],
    ["cut ZIP", docx, find("a.docx").subarray(0, 100)],
    ["space before PDF", "application/pdf", Buffer.from(" %PDF-1.4\n")],
    ["page in UTF-16", "text/csv", Buffer.from("<html></html>", "utf16le")],
    ["page behind a comment", "text/csv", Buffer.from("<!--><script>alert(1)</script>")],
  ];
  return [...renamed, ...made.map(([name, declared, bytes]) => ({ name, declared, bytes }))];
}

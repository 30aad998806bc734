/** Images and other files on the clipboard. Browsers ask the user first; text is ignored. */
export async function readClipboardFiles(): Promise<File[]> {
  const found: File[] = [];
  for (const item of await navigator.clipboard.read()) {
    const type = item.types.find((name) => !name.startsWith("text/"));
    if (type === undefined) continue;
    const ending = type.split("/")[1]?.replace(/\W.*$/, "") ?? "bin";
    found.push(new File([await item.getType(type)], `pasted-${found.length + 1}.${ending}`, { type }));
  }
  return found;
}

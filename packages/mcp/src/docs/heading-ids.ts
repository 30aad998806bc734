/** Names the headings of one page, from the first to the last; each name is given once. */
export function createHeadingIds(): (heading: string) => string {
  const taken = new Set<string>();
  return (heading) => {
    const base = plainHeading(heading)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
      .replaceAll(/^-|-$/g, "");
    let id = base;
    for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
    taken.add(id);
    return id;
  };
}

export function plainHeading(text: string): string {
  return text.replaceAll(/[`*_]/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
}

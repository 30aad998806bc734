/** RFC 6266 with the RFC 8187 form for names beyond ASCII. Nothing of the name can end the header or turn it around. */
export function contentDisposition(kind: "inline" | "attachment", fileName: string): string {
  const name = fileName
    .replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replaceAll(/[/\\]/g, "_");
  const ascii = name.replaceAll(/[^\x20-\x7e]|[%"]/g, "_");
  const extended = encodeURIComponent(name).replaceAll(/['()*]/g, percentEncode);
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${extended}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

const deceptive = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Text that strangers wrote. Characters that hide or reorder others are shown by their code point. */
export function SafeText({ text }: { text: string }) {
  return <bdi>{showHidden(text)}</bdi>;
}

export function showHidden(text: string): string {
  return text.replaceAll(deceptive, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** JSON of strangers, laid out; line breaks are our own. */
export function SafeJson({ value }: { value: unknown }) {
  const lines = JSON.stringify(value, null, 2).split("\n").map(showHidden);
  return <pre className="code">{lines.join("\n")}</pre>;
}

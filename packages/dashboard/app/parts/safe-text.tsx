/** Scripts whose letters are written apart or together by a joiner between them, as Persian is. */
const joined =
  "[\\p{scx=Arab}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}]";
/** Joiners that belong to what is written: of a picture made of pictures, and between letters of such scripts. */
const spelling = [
  "(?<=[\\p{ExtPict}\\p{EMod}\\ufe0f])\\u200d(?=\\p{ExtPict})",
  `(?<=${joined})[\\u200c\\u200d](?=${joined})`,
].join("|");
const deceptive = new RegExp(
  `(?!${spelling})[\\p{Cc}\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]`,
  "gu",
);

/** Untrusted text. Characters that hide or reorder others are shown as code points. */
export function SafeText({ text }: { text: string }) {
  return <bdi>{showHidden(text)}</bdi>;
}

export function showHidden(text: string): string {
  return text.replaceAll(deceptive, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/** Untrusted JSON, formatted; the line breaks are ours. */
export function SafeJson({ value }: { value: unknown }) {
  const lines = JSON.stringify(value, null, 2).split("\n").map(showHidden);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long text scrolls, and has to scroll by keyboard
    <pre className="code" tabIndex={0}>
      {lines.join("\n")}
    </pre>
  );
}

import { CopyButton } from "./copy-button.tsx";
import { showHidden } from "./safe-text.tsx";

/** Text to paste elsewhere. It is copied unchanged, and shown with hidden characters made visible. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="code-block">
      <header>
        <span>{label}</span>
        <CopyButton text={code} of={label} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus the arrow keys could not scroll it */}
      <section className="code" aria-label={label} tabIndex={0}>
        {code.split("\n").map(showHidden).join("\n")}
      </section>
    </div>
  );
}

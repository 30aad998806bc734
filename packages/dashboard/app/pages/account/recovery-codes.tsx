import { CopyButton } from "../../parts/copy-button.tsx";

/** Shown once; they live in the component that asked for them and are gone with it. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const text = codes.join("\n");
  return (
    <div className="stack">
      <p>
        Each of these lets you in once, in place of a code, should the phone be lost. They are not shown
        again: keep them where the phone is not.
      </p>
      <output className="code secret">{text}</output>
      <p className="line">
        <CopyButton text={text} label="Copy codes" />
        <a
          className="button"
          download="upstow-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
        >
          Download
        </a>
        <button type="button" className="primary" onClick={onDone}>
          I have saved them
        </button>
      </p>
    </div>
  );
}

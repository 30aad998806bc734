import { CopyButton } from "../../parts/copy-button.tsx";

/** Shown once; they exist only in the component that requested them. */
export function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  const text = codes.join("\n");
  return (
    <div className="stack">
      <p>
        If you lose your phone, each of these works once instead of a code. They won't be shown again: keep
        them somewhere other than on your phone.
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

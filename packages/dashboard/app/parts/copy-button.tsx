import { useState } from "react";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      setOutcome("The browser did not copy it");
      return;
    }
    setOutcome("Copied");
    setTimeout(() => setOutcome(null), 2000);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  );
}

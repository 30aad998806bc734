import { Icon } from "@upstow/kit/icon";
import { checkIcon, copyIcon } from "@upstow/kit/icons";
import { useState } from "react";

interface CopyButtonProps {
  text: string;
  label?: string;
  /** What it copies, where only its surroundings show that: read out after the label. */
  of?: string;
  /** Its label is read out only. */
  isIcon?: boolean;
}

export function CopyButton({ text, label = "Copy", of, isIcon = false }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      setOutcome("Could not copy");
      return;
    }
    setOutcome("Copied");
    setTimeout(() => setOutcome(null), 2000);
  };
  return (
    <button type="button" className={isIcon ? "quiet square small" : undefined} onClick={() => void copy()}>
      <Icon of={outcome === "Copied" ? checkIcon : copyIcon} />
      <span aria-live="polite" className={isIcon ? "visually-hidden" : undefined}>
        {outcome ?? label}
      </span>
      {of !== undefined && <span className="visually-hidden"> {of}</span>}
    </button>
  );
}

import { memo } from "react";

interface FileNameProps {
  name: string;
  className?: string;
}

/** Cuts a long name in the middle, because its ending is what people look for. */
export const FileName = memo(function FileName({ name, className = "us-name" }: FileNameProps) {
  const letters = splitLetters(name);
  return (
    <bdi className={className} title={name}>
      <span className="us-name-head">{letters.slice(0, -9).join("")}</span>
      <span>{letters.slice(-9).join("")}</span>
    </bdi>
  );
});

/** As people see them: an emoji or a letter with its accent is one. */
function splitLetters(text: string): string[] {
  // Firefox has it since 2024.
  if (!("Segmenter" in Intl)) return [...text];
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

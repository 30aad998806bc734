import { memo } from "react";

interface FileNameProps {
  name: string;
  className?: string;
}

/** Truncates a long name in the middle, because people look for its end. */
export const FileName = memo(function FileName({ name, className = "us-name" }: FileNameProps) {
  const letters = splitLetters(name);
  return (
    <bdi className={className} title={name}>
      <span className="us-name-head">{letters.slice(0, -9).join("")}</span>
      <span>{letters.slice(-9).join("")}</span>
    </bdi>
  );
});

/** Grapheme clusters: an emoji or an accented letter counts as one. */
function splitLetters(text: string): string[] {
  // Supported by Firefox since 2024.
  if (!("Segmenter" in Intl)) return [...text];
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

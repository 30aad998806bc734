import { takeColumns } from "./display-columns.ts";

export interface Terminal {
  showsProgress: boolean;
  note(text: string): void;
  progress(text: string): void;
  clear(): void;
}

const eraseLine = "\r\x1b[2K";
const lineUp = "\x1b[1A";

export function createTerminal(
  stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number },
  isSilent: boolean,
): Terminal {
  const showsProgress = !isSilent && stderr.isTTY === true;
  let openLines = 0;
  /** A wrapped line could not be erased. Some terminals report no size, or none yet. */
  const fit = (text: string) => {
    const columns = stderr.columns || Number.POSITIVE_INFINITY;
    const lines = text.split("\n").map((line) => takeColumns([...line], columns - 1).join(""));
    return lines.join("\n");
  };

  const erasing = () => (openLines === 0 ? "" : eraseLine + (lineUp + eraseLine).repeat(openLines - 1));
  const clear = () => {
    if (openLines > 0) stderr.write(erasing());
    openLines = 0;
  };
  return {
    showsProgress,
    clear,
    note(text) {
      clear();
      if (!isSilent) stderr.write(`${text}\n`);
    },
    progress(text) {
      if (!showsProgress) return;
      stderr.write(`${erasing()}${fit(text)}`);
      openLines = text.split("\n").length;
    },
  };
}

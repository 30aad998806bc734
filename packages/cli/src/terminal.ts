export interface Terminal {
  note(text: string): void;
  progress(text: string): void;
  clear(): void;
}

const eraseLine = "\r\x1b[2K";

export function createTerminal(
  stderr: NodeJS.WritableStream & { isTTY?: boolean },
  isSilent: boolean,
): Terminal {
  const showsProgress = !isSilent && stderr.isTTY === true;
  let isLineOpen = false;

  const clear = () => {
    if (isLineOpen) stderr.write(eraseLine);
    isLineOpen = false;
  };
  return {
    clear,
    note(text) {
      clear();
      if (!isSilent) stderr.write(`${text}\n`);
    },
    progress(text) {
      if (!showsProgress) return;
      stderr.write(`${eraseLine}${text}`);
      isLineOpen = true;
    },
  };
}

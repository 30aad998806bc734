import { writeSync } from "node:fs";
import { styleText } from "node:util";

export interface LogOutput {
  write(line: string): void;
  /** Lines that could not be written. */
  dropped(): number;
  /** Writes the remaining lines, as far as possible without waiting. */
  flush(): void;
}

/** Names levels, as most programs that read logs expect. */
export const logFormat = { formatters: { level: (level: string) => ({ level }) } };

const mostWaitingBytes = 256 * 1024;
const retryMs = 20;

/**
 * Writes lines to a descriptor that does not block. A log that cannot be written, because its disk is full or nobody
 * reads the pipe, must neither stop nor end the service: lines wait in memory for a while, and are then dropped.
 */
export function createLogOutput(fd: number): LogOutput {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let droppedLines = 0;
  /** Part of a line was written, and the rest dropped. */
  let isLineOpen = false;

  function write(line: string): void {
    const bytes = Buffer.from(isLineOpen ? `\n${line}` : line);
    if (waiting.length === 0) put(bytes);
    else keep(bytes);
  }

  function put(bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) {
        written += writeSync(fd, bytes, written);
        isLineOpen = false;
      }
    } catch (error) {
      const rest = bytes.subarray(written);
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") keep(rest);
      else drop(rest, written > 0);
    }
  }

  function keep(bytes: Buffer): void {
    if (waitingBytes + bytes.length > mostWaitingBytes) {
      drop(bytes, false);
      return;
    }
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (waiting.length === 1) setTimeout(flush, retryMs).unref();
  }

  function drop(bytes: Buffer, isCut: boolean): void {
    droppedLines += countLines(bytes);
    isLineOpen ||= isCut;
  }

  function flush(): void {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    put(bytes);
  }

  return { write, dropped: () => droppedLines, flush };
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (byte === 10) count++;
  return count;
}

type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

interface LogLine {
  level: string;
  time: number;
  msg?: string;
  method?: string;
  route?: string;
  status?: number;
  ms?: number;
  err?: { stack?: string; message?: string };
  [field: string]: unknown;
}

/** Names and messages from others must not control the terminal. */
const clean = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ");

/** Log output for people: readable lines instead of JSON. Colours respect NO_COLOR. */
export function createTerminalLog(terminal: NodeJS.WriteStream): { write(line: string): void } {
  const style: Style = (format, text) => styleText(format, text, { stream: terminal });
  return {
    write(line) {
      const entry = JSON.parse(line) as LogLine;
      const time = style("dim", new Date(entry.time).toTimeString().slice(0, 8));
      const text = entry.msg === "request" ? describeRequest(style, entry) : describeMessage(style, entry);
      terminal.write(`${time}  ${text}\n`);
    },
  };
}

function describeRequest(style: Style, { method = "", route, status = 0, ms }: LogLine): string {
  const format = status >= 500 ? "red" : status >= 400 ? "yellow" : "green";
  const words = [style(format, String(status)), clean(method).padEnd(6), clean(route ?? "(no such path)")];
  return `${words.join("  ")}  ${style("dim", `${ms} ms`)}`;
}

function describeMessage(style: Style, entry: LogLine): string {
  const { level, time: _, msg = "", pid: __, hostname: ___, err, ...fields } = entry;
  const isError = level === "error" || level === "fatal";
  const mark = isError ? style("red", "error  ") : level === "warn" ? style("yellow", "warning  ") : "";
  const facts = Object.entries(fields)
    .filter(([, value]) => typeof value !== "object")
    .map(([name, value]) => clean(`${name}=${value}`));
  const stack =
    err === undefined
      ? ""
      : `\n${style("dim", (err.stack ?? err.message ?? "").split("\n").map(clean).join("\n"))}`;
  return (
    [`${mark}${clean(msg)}`, ...(facts.length === 0 ? [] : [style("dim", facts.join(" "))])].join("  ") +
    stack
  );
}

/** The welcome text with styling that sets keys and URLs apart from advice. */
export function styleWelcome(text: string, terminal: NodeJS.WriteStream): string {
  const style: Style = (format, part) => styleText(format, part, { stream: terminal });
  return text
    .split("\n")
    .map((line) => {
      const ready = /^(Upstow is ready at )(\S+)$/.exec(line);
      if (ready !== null)
        return `${style(["bold", "green"], ready[1] ?? "")}${style(["bold", "cyan"], ready[2] ?? "")}`;
      const [, label, value = ""] =
        /^( {2}(?:Live key|Test key|Project|Dashboard|Docs|Data) +)(\S.*)$/.exec(line) ?? [];
      if (label !== undefined)
        return `${style("dim", label)}${style(/^https?:/.test(value) ? "cyan" : "bold", value)}`;
      return /^(UPLOAD=|curl |UPSTOW_URL=)/.test(line) ? style("dim", line) : line;
    })
    .join("\n");
}

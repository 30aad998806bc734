import { styleText } from "node:util";

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

"use client";

import { useEffect, useId, useRef, useState } from "react";
import { describeStatus, formatBytes, formatPercent } from "../core/format.ts";
import { progressProps } from "../core/prop-getters.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { UploadItem } from "../core/types.ts";
import { type Upload, type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileName } from "../parts/file-name.tsx";
import { onEnter } from "../parts/on-enter.ts";
import { Root } from "../parts/root.tsx";

export type DropzoneTerminalProps = UploadProps & {
  /** The prompt before the cursor. */
  prompt?: string;
  classNames?: ClassNames<"root" | "line" | "input">;
};

const help = "add · ls · cancel [n] · retry [n] · rm n · pause · resume · clear";
const barCells = 16;

/** Files as lines of a shell that takes commands: type `help`. */
export function DropzoneTerminal({ prompt = "upload $", classNames, ...props }: DropzoneTerminalProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const inputId = useId();
  const [command, setCommand] = useState("");
  const [answer, setAnswer] = useState(`${labels.dropHere}, or type: ${help}`);
  const lines = useRef<HTMLOListElement>(null);
  const lineCount = upload.items.length;
  // As in a terminal, keep the last line in view.
  useEffect(() => {
    if (lineCount > 0) lines.current?.scrollTo({ top: lines.current.scrollHeight });
  }, [lineCount]);
  const submit = () => {
    setAnswer(run(command, upload));
    setCommand("");
  };
  return (
    <Root upload={upload} className={cx("us-terminal us-dark", classNames?.root)}>
      <ol ref={lines} className="us-terminal-lines" aria-label={labels.files}>
        {upload.items.map((item, i) => (
          <li key={item.id} className={cx("us-terminal-line", classNames?.line)} data-status={item.status}>
            <span>{i + 1}</span>
            <FileName name={item.file.name} />
            <span {...progressProps(item, item.file.name)}>
              <span aria-hidden="true">{drawBar(item)}</span>
            </span>
            <span>
              {item.error?.message ??
                `${formatBytes(item.totalBytes, locale)} ${describeStatus(item, labels, locale)}`}
            </span>
            <FileActions item={item} actions={upload.actions} />
          </li>
        ))}
      </ol>
      <p className="us-terminal-answer" role="log">
        {upload.drag === null ? answer : upload.drag === "accept" ? labels.dropNow : labels.notAccepted}
      </p>
      {/* No <form>, because the terminal may stand in one. */}
      <div className="us-terminal-form">
        <label htmlFor={inputId}>{prompt}</label>
        <input
          id={inputId}
          className={cx("us-terminal-input", classNames?.input)}
          value={command}
          onChange={(event) => setCommand(event.currentTarget.value)}
          onKeyDown={onEnter(submit)}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <button {...upload.getButtonProps()} className="us-terminal-add">
          {labels.chooseFiles}
        </button>
      </div>
    </Root>
  );
}

function drawBar({ progress }: UploadItem): string {
  const filled = Math.round(progress * barCells);
  return `[${"#".repeat(filled)}${".".repeat(barCells - filled)}] ${formatPercent(progress, "en").padStart(4)}`;
}

/** Runs a command and returns its output. */
function run(typed: string, upload: Upload): string {
  const [name = "", which] = typed.trim().toLowerCase().split(/\s+/);
  const id = which === undefined ? undefined : upload.items[Number(which) - 1]?.id;
  if (which !== undefined && id === undefined) return `no such file: ${which}`;
  if (name === "add") upload.open();
  else if (name === "clear") upload.clear();
  else if (name === "rm" && id !== undefined) upload.remove(id);
  else if (name === "cancel" || name === "retry" || name === "pause" || name === "resume") upload[name](id);
  else if (name === "ls") return `${upload.items.length} files, ${formatPercent(upload.progress, "en")}`;
  else return name === "help" || name === "" ? help : `${name}: unknown. Try: ${help}`;
  return `${name}: ok`;
}

"use client";

import type { UploadedFile } from "@upstow/sdk/client";
import { type KeyboardEvent, useEffect, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { Chip } from "../parts/chip.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { ClipIcon, SendIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type ChatAttachmentsProps = UploadProps & {
  onSend?: (message: { text: string; files: UploadedFile<unknown>[] }) => void;
  placeholder?: string;
  words?: { attach?: string; send?: string; message?: string; waiting?: string };
  classNames?: ClassNames<"root" | "chips" | "chip" | "input" | "send">;
};

/** A message box that takes files. Sent too early, the message waits for its attachments. */
export function ChatAttachments(props: ChatAttachmentsProps) {
  const { onSend, placeholder = "Write a message", words = {}, classNames, ...rest } = props;
  const upload = useGivenUpload(rest);
  const labels = useLabels();
  const [text, setText] = useState("");
  const [isSending, setIsSending] = useState(false);
  const { items, status, clear } = upload;
  const isBusy = status === "uploading" || status === "paused";
  const canSend = text.trim() !== "" || items.some((item) => item.status === "done" || isBusy);

  useEffect(() => {
    if (!isSending || isBusy) return;
    setIsSending(false);
    // A message with a missing file is not what its author meant, so let them decide.
    if (status === "failed") return;
    onSend?.({ text: text.trim(), files: items.flatMap(({ uploaded }) => uploaded ?? []) });
    setText("");
    clear();
  }, [isSending, isBusy, status, text, items, clear, onSend]);

  const send = () => {
    if (canSend) setIsSending(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <Root upload={upload} className={cx("us-chat", classNames?.root)}>
      {items.length > 0 && (
        <ul className={cx("us-chips", classNames?.chips)} aria-label={labels.files}>
          {items.map((item) => (
            <Chip key={item.id} item={item} actions={upload.actions} className={classNames?.chip} />
          ))}
        </ul>
      )}
      <div className="us-chat-line">
        <button
          {...upload.getButtonProps()}
          className="us-icon-button"
          aria-label={words.attach ?? "Attach files"}
        >
          <ClipIcon />
        </button>
        <textarea
          className={cx("us-chat-input", classNames?.input)}
          rows={1}
          value={text}
          readOnly={isSending}
          placeholder={placeholder}
          aria-label={words.message ?? "Message"}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          className={cx("us-icon-button us-chat-send", classNames?.send)}
          aria-label={words.send ?? "Send"}
          disabled={!canSend || isSending}
          onClick={send}
        >
          <SendIcon />
        </button>
      </div>
      {isSending && <p className="us-hint">{words.waiting ?? "Sends when the files are uploaded."}</p>}
    </Root>
  );
}

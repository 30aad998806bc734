"use client";

import { type ReactNode, useEffect, useId, useRef } from "react";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type UploadFieldProps = UploadProps & {
  /** The form field's name. */
  name: string;
  label: ReactNode;
  /** What the form submits for each file. Default: `id`. */
  value?: "id" | "key" | "url";
  isRequired?: boolean;
  /** Validation messages for a form submitted too early. */
  messages?: { missing?: string; waiting?: string };
  classNames?: ClassNames<"root" | "label" | "button" | "hint" | "list" | "item">;
};

/** A field for forms: sends what was uploaded, and keeps the form from being sent before everything is there. */
export function UploadField(props: UploadFieldProps) {
  const { name, label, value = "id", isRequired = false, messages = {}, classNames, ...rest } = props;
  const upload = useGivenUpload(rest);
  const labelId = useId();
  const root = useRef<HTMLFieldSetElement>(null);
  const guard = useRef<HTMLInputElement>(null);
  const done = upload.items.flatMap(({ uploaded }) => uploaded ?? []);
  const isWaiting = ["uploading", "paused", "staged"].includes(upload.status);
  const isMissing = isRequired && done.length === 0;
  const { missing = "Choose a file.", waiting = "Wait until everything is uploaded." } = messages;
  useEffect(() => {
    guard.current?.setCustomValidity(isWaiting ? waiting : isMissing ? missing : "");
  });
  return (
    <fieldset ref={root} className={cx("us-ui us-field", classNames?.root)} aria-labelledby={labelId}>
      <div id={labelId} className={cx("us-title", classNames?.label)}>
        {label}
        {isRequired && <span className="us-error"> *</span>}
      </div>
      {/* Browsers ask it whether the form may be sent, and show its message. */}
      <input
        ref={guard}
        className="us-sr"
        tabIndex={-1}
        aria-hidden="true"
        onFocus={() => root.current?.querySelector("button")?.focus()}
      />
      {done.map((file) => (
        <input key={file.id} type="hidden" name={name} value={file[value] ?? ""} />
      ))}
      <Root upload={upload} className="us-field-box">
        <div className="us-field-line">
          <ChooseButton upload={upload} className={classNames?.button} />
          <span className={cx("us-hint", classNames?.hint)}>{upload.hint}</span>
        </div>
        <UnfinishedRows upload={upload} classNames={classNames} />
        <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
      </Root>
    </fieldset>
  );
}

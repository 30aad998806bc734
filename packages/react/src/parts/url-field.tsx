import type { RefObject } from "react";
import { cx } from "./class-names.ts";
import { onEnter } from "./on-enter.ts";

interface UrlFieldProps {
  id: string;
  /** Of the class names: `<prefix>-line` and `<prefix>-input`. */
  prefix: string;
  field: RefObject<HTMLInputElement | null>;
  label: string;
  url: string;
  onChange(url: string): void;
  /** Called on Enter. */
  onSubmit(): void;
  /** The id of the element that describes the state. */
  describedBy: string;
  isDisabled?: boolean;
  isReadOnly?: boolean;
  inputClassName?: string | undefined;
  button: { label: string; isDisabled: boolean; onPress(): void; className?: string | undefined };
}

/** A URL and the button that fetches it. Not a `<form>`, because it may be inside one. */
export function UrlField({ id, prefix, field, label, url, button, ...props }: UrlFieldProps) {
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <div className={`${prefix}-line`}>
        <input
          id={id}
          ref={field}
          // Detached from any form around it, which may be submitted without a URL here.
          form=""
          className={cx(`${prefix}-input`, props.inputClassName)}
          type="url"
          required
          dir="ltr"
          placeholder="https://"
          value={url}
          disabled={props.isDisabled}
          readOnly={props.isReadOnly}
          aria-describedby={props.describedBy}
          onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
          onKeyDown={onEnter(props.onSubmit)}
        />
        <button
          type="button"
          className={cx("us-button", button.className)}
          disabled={button.isDisabled}
          onClick={button.onPress}
        >
          {button.label}
        </button>
      </div>
    </>
  );
}

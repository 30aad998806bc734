import { type ReactNode, useContext, useEffect, useRef } from "react";
import { CloseDialog } from "./dialog.tsx";
import { Failure } from "./states.tsx";
import { useAction } from "./use-action.ts";

interface FormProps {
  className?: string;
  submit: string;
  /** The button's label while submitting; unchanged by default. */
  busy?: string;
  onSubmit: () => Promise<void>;
  isDangerous?: boolean;
  /** Nothing to send yet. */
  isIncomplete?: boolean;
  /** Shown next to the button, for example that it was saved. */
  status?: string;
  children?: ReactNode;
  footer?: ReactNode;
}

/** Fields, what went wrong with them, and the one button that sends them. */
export function Form(props: FormProps) {
  const { error, isBusy, run } = useAction();
  const cancel = useContext(CloseDialog);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error !== null) end.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  return (
    <form
      className={props.className ?? "stack"}
      onSubmit={(event) => {
        event.preventDefault();
        void run(props.onSubmit);
      }}
    >
      {props.children}
      <div className="form-end" ref={end}>
        {error !== null && <Failure error={error} />}
        <div className="actions">
          {props.status !== undefined && <span role="status">{props.status}</span>}
          {cancel !== null && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
          <button
            type="submit"
            className={props.isDangerous ? "danger" : "primary"}
            disabled={isBusy || props.isIncomplete}
          >
            {isBusy ? (props.busy ?? props.submit) : props.submit}
          </button>
        </div>
      </div>
      {props.footer}
    </form>
  );
}

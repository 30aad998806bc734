import type { ReactNode } from "react";
import { Failure } from "./states.tsx";
import { useAction } from "./use-action.ts";

interface FormProps {
  className?: string;
  submit: string;
  /** What the button says meanwhile; the same where nothing is given. */
  busy?: string;
  onSubmit: () => Promise<void>;
  isDangerous?: boolean;
  /** Nothing to send yet. */
  isIncomplete?: boolean;
  /** Said beside the button, for instance that it was saved. */
  status?: string;
  children?: ReactNode;
  footer?: ReactNode;
}

/** Fields, what went wrong with them, and the one button that sends them. */
export function Form(props: FormProps) {
  const { error, isBusy, run } = useAction();
  return (
    <form
      className={props.className ?? "stack"}
      onSubmit={(event) => {
        event.preventDefault();
        void run(props.onSubmit);
      }}
    >
      {props.children}
      {error !== null && <Failure error={error} />}
      <button
        type="submit"
        className={props.isDangerous ? "danger" : "primary"}
        disabled={isBusy || props.isIncomplete}
      >
        {isBusy ? (props.busy ?? props.submit) : props.submit}
      </button>
      {props.status !== undefined && <span role="status">{props.status}</span>}
      {props.footer}
    </form>
  );
}

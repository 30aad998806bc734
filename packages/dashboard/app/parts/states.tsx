import type { ReactNode } from "react";
import { messageOf } from "../api.ts";
import { showHidden } from "./safe-text.tsx";

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <p>{withCommands(showHidden(messageOf(error)))}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The API sets commands in backticks. Any others belong to a name, and stay. */
function withCommands(text: string): ReactNode[] {
  return text
    .split(/(`upstow [^`]+`)/)
    .map((part, i) => (i % 2 === 1 ? <code key={part}>{part.slice(1, -1)}</code> : part));
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** Boxes as high as what they stand for, so that nothing moves when it arrives. */
export function LoadingBoxes({ of, count }: { of: "chart" | "meter"; count: number }) {
  return (
    <div className={`${of}s waiting`} role="status" aria-busy="true">
      <span className="visually-hidden">Loading</span>
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={i} className={of} />
      ))}
    </div>
  );
}

/** Shows a list in whichever state it is; `children` only where there is something in it. */
export function ListState(props: {
  list: { items: unknown[]; error: unknown; isLoading: boolean; reload: () => void };
  empty: ReactNode;
  children: ReactNode;
}) {
  const { list } = props;
  const failure = list.error !== null && <Failure error={list.error} retry={list.reload} />;
  if (list.items.length > 0) {
    return (
      <>
        {failure}
        {props.children}
      </>
    );
  }
  return failure || (list.isLoading ? <Loading /> : props.empty);
}

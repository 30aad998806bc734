"use client";

import type { UploadedFile } from "@upstow/sdk/client";
import { useEffect, useId, useRef, useState } from "react";
import { formatBytes } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { UrlField } from "../parts/url-field.tsx";

export interface UploadFromUrlProps {
  /** A route of your backend's file router with `fromUrl: true`. */
  route: string;
  /** The route's input, if it declares one. */
  input?: unknown;
  isDisabled?: boolean;
  /** Called once your backend has confirmed the file. */
  onUploaded?: (uploaded: { file: UploadedFile<unknown> }) => void;
  onFailed?: (failed: { error: Error }) => void;
  words?: Partial<typeof english>;
  classNames?: ClassNames<"root" | "input" | "button" | "track">;
}

const english = {
  address: "File URL",
  fetch: "Fetch",
  cancel: "Cancel",
  fetching: "Fetching",
  done: (name: string) => `${name} uploaded.`,
};

type State =
  | { is: "idle" }
  | { is: "busy"; receivedBytes: number; totalBytes: number | null }
  | { is: "done"; name: string }
  | { is: "failed"; message: string };

/** The service fetches a URL by itself; no bytes pass through the browser. */
export function UploadFromUrl({
  route,
  input,
  isDisabled = false,
  words,
  classNames,
  ...props
}: UploadFromUrlProps) {
  const { store, locale } = useSurroundings();
  const said = { ...english, ...words };
  const id = useId();
  const [url, setUrl] = useState("");
  const [state, setState] = useState<State>({ is: "idle" });
  const field = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController | null>(null);
  const isBusy = state.is === "busy";
  useEffect(() => () => stop.current?.abort(), []);

  const submit = async () => {
    if (stop.current !== null || isDisabled || !field.current?.reportValidity()) return;
    const abort = new AbortController();
    const { signal } = abort;
    stop.current = abort;
    setState({ is: "busy", receivedBytes: 0, totalBytes: null });
    try {
      const file = await store.get().importFromUrl(route, url, {
        input,
        signal,
        onProgress: (progress) => setState({ is: "busy", ...progress }),
      });
      setUrl("");
      setState({ is: "done", name: file.name });
      props.onUploaded?.({ file });
    } catch (error) {
      if (signal.aborted) return setState({ is: "idle" });
      setState({ is: "failed", message: (error as Error).message });
      props.onFailed?.({ error: error as Error });
    } finally {
      stop.current = null;
    }
  };

  return (
    <div className={cx("us-ui us-from-url", classNames?.root)} data-state={state.is}>
      <UrlField
        id={id}
        prefix="us-from-url"
        field={field}
        label={said.address}
        url={url}
        onChange={setUrl}
        onSubmit={() => void submit()}
        describedBy={`${id}-state`}
        isDisabled={isDisabled}
        isReadOnly={isBusy}
        inputClassName={classNames?.input}
        button={{
          label: isBusy ? said.cancel : said.fetch,
          isDisabled,
          onPress: () => (isBusy ? stop.current?.abort() : void submit()),
          className: classNames?.button,
        }}
      />
      {isBusy && <Bar {...state} label={said.fetching} className={classNames?.track} />}
      <p id={`${id}-state`} className={cx("us-meta", state.is === "failed" && "us-error")} role="status">
        {state.is === "busy" && `${said.fetching}: ${formatBytes(state.receivedBytes, locale)}`}
        {state.is === "done" && said.done(state.name)}
        {state.is === "failed" && state.message}
      </p>
    </div>
  );
}

interface BarProps {
  receivedBytes: number;
  totalBytes: number | null;
  label: string;
  className: string | undefined;
}

/** Without a value while the source has not said the size. */
function Bar({ receivedBytes, totalBytes, label, className }: BarProps) {
  const share = totalBytes === null || totalBytes === 0 ? null : receivedBytes / totalBytes;
  return (
    <progress
      className={cx("us-from-url-track", className)}
      aria-label={label}
      max={1}
      {...(share === null ? {} : { value: share })}
    />
  );
}

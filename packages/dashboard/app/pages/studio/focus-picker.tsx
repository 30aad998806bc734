import type { FileObject } from "@upstow/contract";
import type { MouseEvent } from "react";
import { callApi } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import type { FoundFile } from "../files/found-file.ts";

interface FocusPickerProps {
  file: FileObject;
  onChanged: () => void;
}

/** The whole picture, on which a click says what stays in view. The numbers are for keyboards. */
export function FocusPicker({ file, onChanged }: FocusPickerProps) {
  const { api, mayChange } = useWorkspace();
  const found = useLoad<{ file: FoundFile; link: string | null }>(
    `${api}/search/file?key=${encodeURIComponent(file.key)}`,
  );
  const { error, isBusy, run } = useAction();
  const { x, y } = file.focus ?? { x: 0.5, y: 0.5 };
  const url = found.data?.link ?? found.data?.file.contentUrl;
  const save = (focus: { x: number; y: number }) =>
    run(async () => {
      await callApi("PATCH", `${api}/files/${encodeURIComponent(file.key)}`, { focus });
      onChanged();
    });
  function press(event: MouseEvent) {
    // From a keyboard it has no place.
    if (event.detail === 0 || isBusy) return;
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    void save({ x: toShare((event.clientX - left) / width), y: toShare((event.clientY - top) / height) });
  }
  const slider = (label: string, value: number, change: (share: number) => { x: number; y: number }) => (
    <label>
      {label} {Math.round(value * 100)}%
      <input
        key={value}
        type="range"
        min={0}
        max={100}
        disabled={!mayChange || isBusy}
        defaultValue={Math.round(value * 100)}
        onBlur={({ target }) => {
          const share = toShare(Number(target.value) / 100);
          if (Math.round(value * 100) !== Number(target.value)) void save(change(share));
        }}
      />
    </label>
  );
  return (
    <section className="focus" aria-label="Focus point">
      {error !== null && <Failure error={error} />}
      {url != null && (
        <button type="button" className="focus-picture" disabled={!mayChange} onClick={press}>
          <img src={url} alt="Click the part to keep in view" draggable={false} />
          <span className="focus-point" style={{ left: `${x * 100}%`, top: `${y * 100}%` }} />
        </button>
      )}
      <div className="knobs">
        {slider("From the left", x, (share) => ({ x: share, y }))}
        {slider("From the top", y, (share) => ({ x, y: share }))}
      </div>
    </section>
  );
}

const toShare = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;

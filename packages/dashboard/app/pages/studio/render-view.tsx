import { ApiError } from "../../api.ts";
import { formatBytes } from "../../format.ts";
import { Failure } from "../../parts/states.tsx";
import { type OutputFormat, outputFormats } from "./knobs.ts";
import type { Render, Renders } from "./use-renders.ts";

interface RenderViewProps {
  renders: Renders;
  /** The displayed format. */
  shown: OutputFormat;
  originalBytes: number | null;
  onShow: (format: OutputFormat) => void;
  onMeasured: (size: { width: number; height: number }) => void;
}

export function RenderView({ renders, shown, originalBytes, onShow, onMeasured }: RenderViewProps) {
  const render = renders[shown];
  const all = outputFormats.map((format) => renders[format]).filter((one) => one !== undefined);
  const failures = all.filter((one) => one instanceof ApiError);
  const [failure] = failures;
  return (
    <div className="render">
      <fieldset className="weights">
        <legend>Size by format</legend>
        {outputFormats.map((format) => (
          <label key={format}>
            <input type="radio" name="shown" checked={shown === format} onChange={() => onShow(format)} />
            <span>{format}</span>
            <output aria-label={`${format} size`}>{weigh(renders[format], originalBytes)}</output>
          </label>
        ))}
      </fieldset>
      {failure !== undefined && failures.length === all.length && <Failure error={failure} />}
      <div className="result" aria-busy={render === undefined}>
        {render !== undefined && !(render instanceof ApiError) && (
          <img
            src={render.url}
            alt="Result"
            onLoad={({ currentTarget }) =>
              onMeasured({ width: currentTarget.naturalWidth, height: currentTarget.naturalHeight })
            }
          />
        )}
      </div>
    </div>
  );
}

function weigh(render: Render | ApiError | undefined, originalBytes: number | null): string {
  if (render === undefined) return "…";
  if (render instanceof ApiError) return "Failed";
  if (originalBytes === null || originalBytes === 0) return formatBytes(render.sizeBytes);
  const share = Math.round((render.sizeBytes / originalBytes) * 100);
  return `${formatBytes(render.sizeBytes)} · ${share}%`;
}

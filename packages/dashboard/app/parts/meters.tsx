import type { Usage } from "@upstow/contract";
import { formatBytes, formatCount } from "../format.ts";

/** Each number of the month against what the tier allows. */
export function Meters({ usage: { usage, limits } }: { usage: Usage }) {
  return (
    <div className="meters">
      <Meter label="Storage" value={usage.storageBytes} limit={limits.storageBytes} format={formatBytes} />
      <Meter label="Uploads" value={usage.uploads} limit={limits.uploads} format={formatCount} />
      <Meter
        label="Bandwidth"
        value={usage.bandwidthBytes}
        limit={limits.bandwidthBytes}
        format={formatBytes}
      />
      <Meter
        label="Transform units"
        value={usage.transformUnits}
        limit={limits.transformUnits}
        format={formatCount}
      />
    </div>
  );
}

function Meter(props: {
  label: string;
  value: number;
  limit: number | null;
  format: (value: number) => string;
}) {
  const { label, value, limit, format } = props;
  const share = limit === null || limit === 0 ? 0 : Math.min(1, value / limit);
  return (
    <div className="meter">
      <span className="dim">{label}</span>
      <strong>{format(value)}</strong>
      <progress aria-label={label} value={share} max={1} className={share > 0.9 ? "full" : undefined} />
      <small>{limit === null ? "no limit" : `of ${format(limit)}`}</small>
    </div>
  );
}

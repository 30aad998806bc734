import type { Usage } from "@upstow/contract";
import { formatBytes, formatCount } from "../format.ts";

const meters = [
  { label: "Storage", name: "storageBytes", format: formatBytes },
  { label: "Uploads", name: "uploads", format: formatCount },
  { label: "Bandwidth", name: "bandwidthBytes", format: formatBytes },
  { label: "Transform units", name: "transformUnits", format: formatCount },
] as const;

/** Each number of the month against what the tier allows. */
export function Meters({ usage: { usage, limits } }: { usage: Usage }) {
  return (
    <div className="meters">
      {meters.map(({ label, name, format }) => (
        <Meter key={name} label={label} value={usage[name]} limit={limits[name]} format={format} />
      ))}
    </div>
  );
}

interface MeterProps {
  label: string;
  value: number;
  limit: number | null;
  format: (value: number) => string;
}

function Meter({ label, value, limit, format }: MeterProps) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, value / limit);
  return (
    <div className="meter">
      <span className="dim">{label}</span>
      <strong>{format(value)}</strong>
      {limit !== null && limit > 0 && (
        <progress aria-label={label} value={share} max={1} className={share > 0.9 ? "full" : undefined} />
      )}
      <small>{limit === null ? "no limit" : limit === 0 ? "not in this tier" : `of ${format(limit)}`}</small>
    </div>
  );
}

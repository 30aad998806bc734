import type { Usage } from "@upstow/contract";
import { formatBytes, formatCount } from "../format.ts";

const meters = [
  { label: "Storage", name: "storageBytes", reserved: "reservedBytes", format: formatBytes },
  { label: "Uploads", name: "uploads", reserved: "reservedUploads", format: formatCount },
  { label: "Bandwidth", name: "bandwidthBytes", format: formatBytes },
  { label: "Transform units", name: "transformUnits", format: formatCount },
] as const;

/** Each number of the month against its plan limit. */
export function Meters({ usage: { usage, limits } }: { usage: Usage }) {
  return (
    <div className="meters">
      {meters.map(({ name, ...meter }) => (
        <Meter
          key={name}
          label={meter.label}
          value={usage[name]}
          reserved={"reserved" in meter ? usage[meter.reserved] : 0}
          limit={limits[name]}
          format={meter.format}
        />
      ))}
    </div>
  );
}

interface MeterProps {
  label: string;
  value: number;
  /** Held by uploads that are still open; counts toward the limit. */
  reserved: number;
  limit: number | null;
  format: (value: number) => string;
}

function Meter({ label, value, reserved, limit, format }: MeterProps) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, (value + reserved) / limit);
  return (
    <div className="meter">
      <span className="dim">{label}</span>
      <strong>{format(value)}</strong>
      {limit !== null && limit > 0 && (
        <progress aria-label={label} value={share} max={1} className={share > 0.9 ? "full" : undefined} />
      )}
      {reserved > 0 && <small>+ {format(reserved)} reserved by open uploads</small>}
      <small>
        {limit === null ? "No limit" : limit === 0 ? "Not included in this plan" : `of ${format(limit)}`}
      </small>
    </div>
  );
}

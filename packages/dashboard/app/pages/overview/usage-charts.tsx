import type { Usage } from "@upstow/contract";
import { formatBytes, formatCount, formatDay } from "../../format.ts";
import type { Loaded } from "../../load.ts";
import { Chart } from "../../parts/chart.tsx";
import { Failure, LoadingBoxes } from "../../parts/states.tsx";

interface UsageDay {
  day: string;
  uploads: number;
  bandwidthBytes: number;
  transformUnits: number;
  storageBytes: number;
}

export interface UsageDays {
  days: UsageDay[];
}

interface Series {
  title: string;
  name: Exclude<keyof UsageDay, "day">;
  /** Daily sums, or the value at the end of each day. */
  kind: "bars" | "line";
  format: (value: number) => string;
}

const series: Series[] = [
  { title: "Storage", name: "storageBytes", kind: "line", format: formatBytes },
  { title: "Uploads", name: "uploads", kind: "bars", format: formatCount },
  { title: "Bandwidth", name: "bandwidthBytes", kind: "bars", format: formatBytes },
  { title: "Transform units", name: "transformUnits", kind: "bars", format: formatCount },
];

interface UsageChartsProps {
  days: Loaded<UsageDays>;
  /** Of the plan. */
  limits: Usage["limits"] | null;
}

export function UsageCharts({ days: { data, error, reload }, limits }: UsageChartsProps) {
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (data === null) return <LoadingBoxes of="chart" count={series.length} />;
  return (
    <div className="charts">
      {series.map(({ name, ...shown }) => {
        const points = data.days.map((day) => ({ label: formatDay(day.day), value: day[name] }));
        const total = points.reduce((sum, { value }) => sum + value, 0);
        const note = shown.kind === "line" ? (points.at(-1)?.value ?? 0) : total;
        const limit = limits?.[name] ?? null;
        const against = limit === null || limit === 0 ? "" : `of ${shown.format(limit)}`;
        return <Chart key={name} {...shown} note={shown.format(note)} limit={against} points={points} />;
      })}
    </div>
  );
}

import { formatBytes, formatCount, formatDay } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Chart } from "../../parts/chart.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";

interface UsageDay {
  day: string;
  uploads: number;
  bandwidthBytes: number;
  transformUnits: number;
  storageBytes: number;
}

export function UsageCharts() {
  const { api } = useWorkspace();
  const { data, error, reload } = useLoad<{ days: UsageDay[] }>(`${api}/usage/days?days=30`);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (data === null) return <Loading />;
  const { days } = data;
  const pointsOf = (name: Exclude<keyof UsageDay, "day">) =>
    days.map((day) => ({ label: formatDay(day.day), value: day[name] }));
  const totalOf = (name: Exclude<keyof UsageDay, "day">) => days.reduce((sum, day) => sum + day[name], 0);
  return (
    <div className="charts">
      <Chart
        title="Storage"
        kind="line"
        note={formatBytes(days.at(-1)?.storageBytes ?? 0)}
        points={pointsOf("storageBytes")}
        format={formatBytes}
      />
      <Chart
        title="Uploads"
        kind="bars"
        note={formatCount(totalOf("uploads"))}
        points={pointsOf("uploads")}
        format={formatCount}
      />
      <Chart
        title="Bandwidth"
        kind="bars"
        note={formatBytes(totalOf("bandwidthBytes"))}
        points={pointsOf("bandwidthBytes")}
        format={formatBytes}
      />
      <Chart
        title="Transform units"
        kind="bars"
        note={formatCount(totalOf("transformUnits"))}
        points={pointsOf("transformUnits")}
        format={formatCount}
      />
    </div>
  );
}

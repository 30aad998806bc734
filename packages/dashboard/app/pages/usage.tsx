import type { Usage, UsageRecord } from "@upstow/contract";
import { formatBytes, formatCount } from "../format.ts";
import { useLoad } from "../load.ts";
import { Meters } from "../parts/meters.tsx";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { useWorkspace } from "../workspace.ts";

export default function UsagePage() {
  const { api, project } = useWorkspace();
  const current = useLoad<Usage>(`${api}/usage`);
  const history = useLoad<{ usage: UsageRecord[] }>(`${api}/usage/history?months=12`);
  const failed = current.error !== null ? current : history;
  if (failed.error !== null) return <Failure error={failed.error} retry={failed.reload} />;
  if (current.data === null || history.data === null) return <Loading />;
  const records = history.data.usage;
  return (
    <>
      <div className="title">
        <h1>Usage</h1>
        <a className="button" download={`usage-${project.slug}.csv`} href={csvOf(records)}>
          Download CSV
        </a>
      </div>
      <p className="dim">
        This month, on the <strong>{current.data.tier}</strong> tier
      </p>
      <Meters usage={current.data} />
      <h2>By month</h2>
      <ScrollTable label="Usage by month">
        <thead>
          <tr>
            <th>Month</th>
            <th className="number">Storage</th>
            <th className="number">Uploads</th>
            <th className="number">Bandwidth</th>
            <th className="number">Transforms</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.period}>
              <td>{record.period}</td>
              <td className="number">{formatBytes(record.storageBytes)}</td>
              <td className="number">{formatCount(record.uploads)}</td>
              <td className="number">{formatBytes(record.bandwidthBytes)}</td>
              <td className="number">{formatCount(record.transformUnits)}</td>
            </tr>
          ))}
        </tbody>
      </ScrollTable>
    </>
  );
}

function csvOf(records: UsageRecord[]): string {
  const head = "month,storage_bytes,uploads,bandwidth_bytes,transform_units";
  const lines = records.map((record) =>
    [record.period, record.storageBytes, record.uploads, record.bandwidthBytes, record.transformUnits].join(
      ",",
    ),
  );
  return `data:text/csv;charset=utf-8,${encodeURIComponent([head, ...lines].join("\n"))}`;
}

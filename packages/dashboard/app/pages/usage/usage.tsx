import { ACCOUNT_RATE_FACTOR, type RateLimits, type Usage, type UsageRecord } from "@upstow/contract";
import { useState } from "react";
import { formatBytes, formatCount, formatMonth } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Chart } from "../../parts/chart.tsx";
import { Meters } from "../../parts/meters.tsx";
import { ScrollTable } from "../../parts/scroll-table.tsx";
import { Failure, Loading, LoadingBoxes } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";

export default function UsagePage() {
  const { api } = useWorkspace();
  const current = useLoad<Usage>(`${api}/usage`);
  return (
    <>
      <h1>Usage</h1>
      {current.error !== null && <Failure error={current.error} retry={current.reload} />}
      <p className="dim">
        {current.data === null ? (
          "This month"
        ) : (
          <>
            This month, on the <strong className="tier">{current.data.tier}</strong> tier
          </>
        )}
      </p>
      {current.data === null && current.error === null && <LoadingBoxes of="meter" count={4} />}
      {current.data !== null && <Meters usage={current.data} />}
      <RateLimitsNote />
      <History />
    </>
  );
}

/** When a key meets its limit, and what raises it. */
function RateLimitsNote() {
  const { api } = useWorkspace();
  const { data, error } = useLoad<RateLimits>(`${api}/rate-limits`);
  if (data === null) {
    return error === null ? (
      <section>
        <h2>Rate limits</h2>
        <Loading />
      </section>
    ) : null;
  }
  const show = (limit: number | null) => (limit === null ? "unlimited" : formatCount(limit));
  return (
    <section>
      <h2>Rate limits</h2>
      <p>
        Each API key can send <strong>{show(data.upload)}</strong> upload,{" "}
        <strong>{show(data.transform)}</strong> transform and <strong>{show(data.other)}</strong> other
        requests per minute. All keys of an account combined can send {ACCOUNT_RATE_FACTOR} times as many. A
        small file takes two upload requests.
      </p>
      <p className="dim">
        Requests over a limit return 429 and appear in the logs as <code>rate.limited</code>. The operator can
        raise the limits for all keys with <code>UPSTOW_RATE_LIMITS</code>, or those of one Enterprise account
        under Installation or with <code>upstow account set-limits</code>.
      </p>
    </section>
  );
}

function History() {
  const { api, project, environment } = useWorkspace();
  const [months, setMonths] = useState(12);
  const { data, error, reload } = useLoad<{ usage: UsageRecord[] }>(`${api}/usage/history?months=${months}`);
  return (
    <section>
      <div className="title">
        <h2>By month</h2>
        <p className="line">
          <select
            aria-label="Months"
            value={months}
            onChange={(event) => setMonths(Number(event.target.value))}
          >
            {[12, 24, 36, 60].map((count) => (
              <option key={count} value={count}>
                {count} months
              </option>
            ))}
          </select>
          {data !== null && (
            <a
              className="button"
              download={`usage-${project.slug}-${environment}.csv`}
              href={csvOf(data.usage)}
            >
              Download CSV
            </a>
          )}
        </p>
      </div>
      {error !== null && <Failure error={error} retry={reload} />}
      {data === null && error === null && <LoadingBoxes of="chart" count={2} />}
      {data !== null && <Months records={data.usage} />}
    </section>
  );
}

function Months({ records }: { records: UsageRecord[] }) {
  const oldestFirst = records.toReversed();
  const total = (name: "uploads" | "bandwidthBytes") =>
    records.reduce((sum, record) => sum + record[name], 0);
  return (
    <>
      <div className="charts">
        <Chart
          title="Uploads per month"
          kind="bars"
          note={formatCount(total("uploads"))}
          points={oldestFirst.map(({ period, uploads }) => ({ label: formatMonth(period), value: uploads }))}
          format={formatCount}
        />
        <Chart
          title="Bandwidth per month"
          kind="bars"
          note={formatBytes(total("bandwidthBytes"))}
          points={oldestFirst.map(({ period, bandwidthBytes }) => ({
            label: formatMonth(period),
            value: bandwidthBytes,
          }))}
          format={formatBytes}
        />
      </div>
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
              <td className="moment">{formatMonth(record.period)}</td>
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

/** Numbers and months only: nothing that a spreadsheet could take for a formula. */
function csvOf(records: UsageRecord[]): string {
  const head = "month,storage_bytes,uploads,bandwidth_bytes,transform_units";
  const lines = records.map((record) =>
    [record.period, record.storageBytes, record.uploads, record.bandwidthBytes, record.transformUnits].join(
      ",",
    ),
  );
  return `data:text/csv;charset=utf-8,${encodeURIComponent(`${[head, ...lines].join("\r\n")}\r\n`)}`;
}

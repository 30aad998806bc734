import { ScrollTable } from "./scroll-table.tsx";

export interface Point {
  label: string;
  value: number;
}

interface ChartProps {
  title: string;
  /** The number next to the title, such as the total. */
  note: string;
  /** Behind it, such as "of 10 GB". */
  limit?: string;
  points: Point[];
  format: (value: number) => string;
  /** Bars for what each day adds, a filled line for what there is. */
  kind: "bars" | "line";
}

const width = 300;
const height = 80;

/** A chart, with the same numbers as a table for everyone. */
export function Chart({ title, note, limit = "", points, format, kind }: ChartProps) {
  const largest = Math.max(0, ...points.map((point) => point.value));
  const scaled = points.map((point) => (point.value / largest) * height);
  const peak = points.find((point) => point.value === largest);
  const summary = `${title}: ${note}. Highest ${format(largest)}, ${peak?.label}.`;
  return (
    <figure className="chart">
      <figcaption>
        <span>{title}</span>
        <span>
          <strong>{note}</strong> {limit}
        </span>
      </figcaption>
      {largest === 0 ? (
        <p className="dim no-data">No data</p>
      ) : (
        <>
          <p className="peak" aria-hidden="true">
            {format(largest)}
          </p>
          <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={summary}>
            {kind === "bars" ? (
              <Bars points={points} scaled={scaled} format={format} />
            ) : (
              <Line scaled={scaled} />
            )}
            <line x1="0" x2={width} y1={height} y2={height} className="axis" />
          </svg>
          <p className="ends" aria-hidden="true">
            <span>{points[0]?.label}</span>
            <span>{points.at(-1)?.label}</span>
          </p>
        </>
      )}
      <details>
        <summary>
          Show numbers<span className="visually-hidden"> of {title}</span>
        </summary>
        <ScrollTable label={title}>
          <thead>
            <tr>
              <th>Time</th>
              <th className="number">{title}</th>
            </tr>
          </thead>
          <tbody>
            {points.toReversed().map((point) => (
              <tr key={point.label}>
                <td>{point.label}</td>
                <td className="number">{format(point.value)}</td>
              </tr>
            ))}
          </tbody>
        </ScrollTable>
      </details>
    </figure>
  );
}

/** The whole column reacts to the pointer, so that small values can be read too. */
function Bars(props: { points: Point[]; scaled: number[]; format: (value: number) => string }) {
  const step = width / Math.max(1, props.points.length);
  return props.points.map((point, index) => {
    const tall = props.scaled[index] ?? 0;
    return (
      <g key={point.label}>
        <title>{`${point.label}: ${props.format(point.value)}`}</title>
        <rect x={index * step} y={0} width={step} height={height} className="column" />
        <rect
          x={index * step + step * 0.15}
          y={height - tall}
          width={step * 0.7}
          height={tall}
          className="share"
        />
      </g>
    );
  });
}

function Line({ scaled }: { scaled: number[] }) {
  const step = width / Math.max(1, scaled.length - 1);
  const corners = scaled.map((tall, index) => `${(index * step).toFixed(1)} ${(height - tall).toFixed(1)}`);
  return (
    <>
      <path d={`M0 ${height}L${corners.join("L")}L${width} ${height}Z`} className="area" />
      <path d={`M${corners.join("L")}`} className="stroke" />
    </>
  );
}

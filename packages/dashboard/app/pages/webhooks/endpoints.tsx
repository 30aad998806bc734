import type { Router } from "@upstow/contract";
import { formatAgo, formatCount, formatDay, formatMany } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";

interface Day {
  day: string;
  delivered: number;
  failed: number;
  pending: number;
}
interface Endpoint {
  url: string;
  lastAt: string;
  averageMs: number | null;
  days: Day[];
}
interface Endpoints {
  days: number;
  /** There are more deliveries than were counted. */
  isPartial: boolean;
  endpoints: Endpoint[];
}

interface EndpointListProps {
  routes: Router[];
  selected: string;
  onSelect: (url: string) => void;
}

/** Every URL that routes name, or that was called lately. A click shows its deliveries alone. */
export function EndpointList({ routes, selected, onSelect }: EndpointListProps) {
  const { api, environment } = useWorkspace();
  const { data, error, reload } = useLoad<Endpoints>(`${api}/webhooks/endpoints`);
  if (error !== null) return <Failure error={error} retry={reload} />;
  const here = routes.filter((route) => route.environment === "all" || route.environment === environment);
  const urls = new Set(here.flatMap(({ webhookUrl }) => webhookUrl ?? []));
  for (const { url } of data?.endpoints ?? []) urls.add(url);
  if (data === null || urls.size === 0) return null;
  return (
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Endpoints</h2>
      <div className="endpoints">
        {[...urls].map((url) => (
          <EndpointCard
            key={url}
            url={url}
            slugs={here.filter(({ webhookUrl }) => webhookUrl === url).map(({ slug }) => slug)}
            endpoint={data.endpoints.find((one) => one.url === url)}
            dayCount={data.days}
            isSelected={url === selected}
            onSelect={() => onSelect(url === selected ? "" : url)}
          />
        ))}
      </div>
      {data.isPartial && <p className="dim">Rates cover the newest 5,000 deliveries.</p>}
    </section>
  );
}

interface EndpointCardProps {
  url: string;
  slugs: string[];
  endpoint: Endpoint | undefined;
  dayCount: number;
  isSelected: boolean;
  onSelect: () => void;
}

function EndpointCard({ url, slugs, endpoint, dayCount, isSelected, onSelect }: EndpointCardProps) {
  const days = endpoint?.days ?? [];
  const delivered = days.reduce((sum, day) => sum + day.delivered, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const total = days.reduce((sum, day) => sum + day.pending, delivered + failed);
  const ended = delivered + failed;
  const rate = ended === 0 ? null : Math.floor((delivered / ended) * 1000) / 10;
  return (
    <button
      type="button"
      className="endpoint"
      aria-pressed={isSelected}
      aria-label={`Show deliveries to ${showHidden(url)}`}
      onClick={onSelect}
    >
      <span className="cut endpoint-url">
        <SafeText text={url} />
      </span>
      <span className="cut dim">
        {slugs.length === 0 ? "Not used by any route" : <SafeText text={slugs.join(", ")} />}
      </span>
      <span className="endpoint-facts">
        <span>
          <strong className={rate === null ? "dim" : rate < 95 ? "bad-text" : "good-text"}>
            {rate === null ? "–" : `${rate}%`}
          </strong>{" "}
          {rate !== null && "delivered"}
        </span>
        <DayBars days={days} dayCount={dayCount} />
      </span>
      <span className="dim">
        {total === 0
          ? `No deliveries in ${dayCount} days`
          : `${formatMany(total, "delivery", "deliveries")} · ${formatCount(failed)} failed`}
      </span>
      {endpoint !== undefined && (
        <span className="dim">
          {endpoint.averageMs !== null && `${formatCount(endpoint.averageMs)} ms on average · `}
          last {formatAgo(endpoint.lastAt)}
        </span>
      )}
    </button>
  );
}

const height = 24;

/** Delivered and failed, per day; the adjacent text has the numbers. */
function DayBars({ days, dayCount }: { days: Day[]; dayCount: number }) {
  const start = Date.now() - (dayCount - 1) * 86_400_000;
  const shown = Array.from({ length: dayCount }, (_, i) => {
    const day = new Date(start + i * 86_400_000).toISOString().slice(0, 10);
    return days.find((one) => one.day === day) ?? { day, delivered: 0, failed: 0, pending: 0 };
  });
  const largest = Math.max(1, ...shown.map((day) => day.delivered + day.failed));
  return (
    <svg
      className="day-bars"
      viewBox={`0 0 ${dayCount * 10 - 3} ${height}`}
      preserveAspectRatio="xMaxYMax"
      aria-hidden="true"
    >
      {shown.map((day, i) => {
        const good = (day.delivered / largest) * height;
        const bad = (day.failed / largest) * height;
        return (
          <g key={day.day}>
            <title>{`${formatDay(day.day)}: ${day.delivered} delivered, ${day.failed} failed`}</title>
            <rect x={i * 10} y={height - 1} width="7" height="1" className="none" />
            <rect x={i * 10} y={height - good} width="7" height={good} className="good-bar" />
            <rect x={i * 10} y={height - good - bad} width="7" height={bad} className="bad-bar" />
          </g>
        );
      })}
    </svg>
  );
}

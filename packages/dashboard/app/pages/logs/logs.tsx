import { LOG_TYPES, type Log } from "@upstow/contract";
import { useState } from "react";
import { usePages } from "../../load.ts";
import { Choice } from "../../parts/choice.tsx";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { useSettled } from "../../parts/use-settled.ts";
import { useWorkspace } from "../../workspace.ts";
import { LogRow } from "./log-row.tsx";
import { type Connection, useLiveLogs } from "./use-live-logs.ts";

const hourMs = 60 * 60 * 1000;
const ranges = [
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
  ["720", "Last 30 days"],
] as const;
const words: Record<Connection, string> = {
  live: "Live",
  connecting: "Connecting…",
  paused: "Paused",
  stopped: "Not live",
};

export default function Logs() {
  const { api } = useWorkspace();
  const [type, setType] = useState("");
  const [range, setRange] = useState({ hours: "", since: "" });
  const [typed, setTyped] = useState("");
  const [isLive, setLive] = useState(true);
  const text = useSettled(typed.trim());
  const filter = param("type", type) + param("text", text);
  const list = usePages<Log, "logs">(
    `${api}/logs${text === "" ? "" : "/search"}?limit=50${filter}${param("since", range.since)}`,
    "logs",
  );
  const stream = `${api}/logs/stream?${filter}`;
  const { connection, retry } = useLiveLogs(stream, isLive, (entry) =>
    list.setItems((items) => withEntry(items, entry)),
  );
  const clear = () => {
    setTyped("");
    setType("");
    setRange({ hours: "", since: "" });
  };
  return (
    <>
      <div className="title">
        <h1>Logs</h1>
        <p className="line">
          <span role="status" className={`tag ${connection}`}>
            {words[connection]}
          </span>
          {connection === "stopped" ? (
            <button type="button" onClick={retry}>
              Reconnect
            </button>
          ) : (
            <button type="button" onClick={() => setLive(!isLive)}>
              {isLive ? "Pause" : "Go live"}
            </button>
          )}
        </p>
      </div>
      <Filters onClear={typed + type + range.hours === "" ? undefined : clear}>
        <SearchBox
          label="Search in logs"
          placeholder="Search in messages and details"
          value={typed}
          onChange={setTyped}
        />
        <Choice isBare label="Type" any="All types" options={LOG_TYPES} value={type} onChange={setType} />
        <Choice
          isBare
          label="Time"
          any="Any time"
          options={ranges}
          value={range.hours}
          onChange={(hours) => setRange({ hours, since: momentBefore(hours) })}
        />
      </Filters>
      <ListState list={list} empty={<Empty title={emptyTitle(filter + range.since)} />}>
        <ul className="rows" aria-label="Log entries">
          {list.items.map((log) => (
            <LogRow key={log.id} log={log} />
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
    </>
  );
}

/** Newest first, each once: a stream may repeat what it sent before it broke. */
function withEntry(items: Log[], entry: Log): Log[] {
  if (items.some((item) => item.id === entry.id)) return items;
  const index = items.findIndex((item) => item.id < entry.id);
  return index === -1 ? [...items, entry] : items.toSpliced(index, 0, entry);
}

function param(name: string, value: string): string {
  return value === "" ? "" : `&${name}=${encodeURIComponent(value)}`;
}

function momentBefore(hours: string): string {
  return hours === "" ? "" : new Date(Date.now() - Number(hours) * hourMs).toISOString();
}

function emptyTitle(filter: string): string {
  return filter === "" ? "No log entries yet" : "No matching entries";
}

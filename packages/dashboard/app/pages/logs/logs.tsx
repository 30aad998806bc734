import { LOG_TYPES, type Log } from "@upstow/contract";
import { useState } from "react";
import { formatAgo, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeJson, SafeText } from "../../parts/safe-text.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { useSettled } from "../../parts/use-settled.ts";
import { useWorkspace } from "../../workspace.ts";
import { type Connection, useLiveLogs } from "./use-live-logs.ts";

const hourMs = 60 * 60 * 1000;
const ranges: [label: string, ms: number][] = [
  ["Any time", 0],
  ["Last hour", hourMs],
  ["Last 24 hours", 24 * hourMs],
  ["Last 7 days", 7 * 24 * hourMs],
  ["Last 30 days", 30 * 24 * hourMs],
];
const words: Record<Connection, string> = {
  live: "Live",
  connecting: "Connecting …",
  paused: "Paused",
  stopped: "Not live",
};

export default function Logs() {
  const { api } = useWorkspace();
  const [type, setType] = useState("");
  const [since, setSince] = useState("");
  const [typed, setTyped] = useState("");
  const [isLive, setLive] = useState(true);
  const text = useSettled(typed.trim());
  const filter = param("type", type) + param("text", text);
  const list = usePages<Log, "logs">(
    `${api}/logs${text === "" ? "" : "/search"}?limit=50${filter}${param("since", since)}`,
    "logs",
  );
  const stream = `${api}/logs/stream?${filter}`;
  const { connection, retry } = useLiveLogs(stream, isLive, (entry) =>
    list.setItems((items) => withEntry(items, entry)),
  );
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
              Connect again
            </button>
          ) : (
            <button type="button" onClick={() => setLive(!isLive)}>
              {isLive ? "Pause" : "Go live"}
            </button>
          )}
        </p>
      </div>
      <search className="filters">
        <input
          type="search"
          aria-label="Search in logs"
          placeholder="Search in messages and details"
          maxLength={255}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <select aria-label="Type" value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">Everything</option>
          {LOG_TYPES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select aria-label="Time" onChange={(event) => setSince(momentBefore(Number(event.target.value)))}>
          {ranges.map(([label, ms]) => (
            <option key={label} value={ms}>
              {label}
            </option>
          ))}
        </select>
      </search>
      <ListState list={list} empty={<Empty title={emptyTitle(filter + since)} />}>
        <ul className="rows">
          {list.items.map((log) => (
            <LogRow key={log.id} log={log} />
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
    </>
  );
}

function LogRow({ log }: { log: Log }) {
  return (
    <li>
      <details className="grow">
        <summary>
          <SafeText text={log.message} />
        </summary>
        <SafeJson value={{ key: log.key, fileId: log.fileId, ...log.data }} />
      </details>
      <span className="tag">{log.type}</span>
      <time className="dim" dateTime={log.createdAt} title={formatTime(log.createdAt)}>
        {formatAgo(log.createdAt)}
      </time>
    </li>
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

function momentBefore(ms: number): string {
  return ms === 0 ? "" : new Date(Date.now() - ms).toISOString();
}

function emptyTitle(filter: string): string {
  return filter === "" ? "Nothing has happened yet" : "Nothing like that has happened";
}

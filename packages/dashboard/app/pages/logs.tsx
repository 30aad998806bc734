import { LOG_TYPES, type Log } from "@upstow/contract";
import { useState } from "react";
import { formatAgo, formatTime } from "../format.ts";
import { usePages } from "../load.ts";
import { MoreButton } from "../parts/more-button.tsx";
import { SafeJson, SafeText } from "../parts/safe-text.tsx";
import { Empty, ListState } from "../parts/states.tsx";
import { useWorkspace } from "../workspace.ts";

export default function Logs() {
  const { api } = useWorkspace();
  const [type, setType] = useState("");
  const list = usePages<Log, "logs">(`${api}/logs?limit=50${type === "" ? "" : `&type=${type}`}`, "logs");
  return (
    <>
      <div className="title">
        <h1>Logs</h1>
        <button type="button" onClick={list.reload}>
          Refresh
        </button>
      </div>
      <search className="filters">
        <select aria-label="Type" value={type} onChange={(event) => setType(event.target.value)}>
          <option value="">Everything</option>
          {LOG_TYPES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </search>
      <ListState list={list} empty={<Empty title="Nothing has happened yet" />}>
        <ul className="rows">
          {list.items.map((log) => (
            <li key={log.id}>
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
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
    </>
  );
}

import { AUDIT_ACTIONS, type AuditEntry } from "@upstow/contract";
import { useState } from "react";
import { formatAgo, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { lastMoment } from "../../parts/moment.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { useSettled } from "../../parts/use-settled.ts";
import { useWorkspace } from "../../workspace.ts";
import { nameBrowser } from "../account/name-browser.ts";
import { actionNames, authorKinds } from "./action-names.ts";

/** Changes in this project, for its owners. */
export function ProjectAudit() {
  const { project } = useWorkspace();
  return <AuditLog title="Audit log" api={`/projects/${project.id}/audit`} />;
}

/** Changes to one's own account: sign-ins, credentials, tier. */
export function AccountAudit() {
  return <AuditLog title="Account activity" api="/account/audit" />;
}

/** Everything, for the installation's owner. */
export function InstallationAudit() {
  return <AuditLog title="Installation audit log" api="/admin/audit" />;
}

const noFilter = { author: "", action: "", since: "", until: "" };
const actions = AUDIT_ACTIONS.map((action) => [action, actionNames[action]] as const);

function AuditLog({ title, api }: { title: string; api: string }) {
  const [filter, setFilter] = useState(noFilter);
  const author = useSettled(filter.author.trim());
  const query = toQuery({ ...filter, author });
  const list = usePages<AuditEntry, "entries">(`${api}?limit=50${query}`, "entries");
  const bind = (name: keyof typeof noFilter) => ({
    value: filter[name],
    onChange: (value: string) => setFilter({ ...filter, [name]: value }),
  });
  const isFiltered = Object.values(filter).some((value) => value !== "");
  const download = (format: string) => `/dashboard/api${api}/export?format=${format}${query}`;
  return (
    <>
      <div className="title">
        <h1>{title}</h1>
        <p className="line">
          <a className="button" download href={download("csv")}>
            Export CSV
          </a>
          <a className="button" download href={download("jsonl")}>
            Export JSON lines
          </a>
        </p>
      </div>
      <Filters
        onClear={isFiltered ? () => setFilter(noFilter) : undefined}
        more={{
          label: "Time",
          isOpen: filter.since !== "" || filter.until !== "",
          fields: (
            <>
              <Field
                label="Since"
                type="datetime-local"
                max={lastMoment}
                required={false}
                {...bind("since")}
              />
              <Field
                label="Until"
                type="datetime-local"
                max={lastMoment}
                required={false}
                {...bind("until")}
              />
            </>
          ),
        }}
      >
        <SearchBox label="Author" placeholder="Search by email, key name or ID" {...bind("author")} />
        <Choice isBare label="Action" any="All actions" options={actions} {...bind("action")} />
      </Filters>
      <ListState list={list} empty={<Empty title={isFiltered ? "No matching entries" : "No entries yet"} />}>
        <ul className="rows">
          {list.items.map((entry) => (
            <EntryRow key={entry.id} entry={entry} />
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
    </>
  );
}

function EntryRow({ entry }: { entry: AuditEntry }) {
  const { author, target, address } = entry;
  const kind = authorKinds[author.kind];
  return (
    <li>
      <details className="grow entry">
        <summary>
          <span>{actionNames[entry.action] ?? entry.action}</span>
          {target.label !== null && (
            <>
              {": "}
              <SafeText text={target.label} />
            </>
          )}
          <span className="dim by">
            <SafeText text={author.name} />
            {kind !== "" && ` (${kind})`}
            {address !== null && ` · ${address}`}
          </span>
        </summary>
        <dl>
          <dt>Time</dt>
          <dd>{formatTime(entry.at)}</dd>
          <dt>Target</dt>
          <dd>
            {target.kind} <code>{target.id}</code>
          </dd>
          {author.id !== null && (
            <>
              <dt>Author ID</dt>
              <dd>
                <code>{author.id}</code>
              </dd>
            </>
          )}
          {entry.userAgent !== "" && (
            <>
              <dt>Client</dt>
              <dd>
                <SafeText text={nameBrowser(entry.userAgent)} />
              </dd>
            </>
          )}
          {Object.entries(entry.changes).map(([field, change]) => (
            <Change key={field} field={field} change={change} />
          ))}
        </dl>
      </details>
      <time className="dim" dateTime={entry.at} title={formatTime(entry.at)}>
        {formatAgo(entry.at)}
      </time>
    </li>
  );
}

function Change({ field, change }: { field: string; change: AuditEntry["changes"][string] }) {
  const { from, to } = change;
  return (
    <>
      <dt>{field}</dt>
      <dd>
        {from === undefined && to === undefined && <span className="dim">changed, value not recorded</span>}
        {from !== undefined && (
          <del>
            <SafeText text={toText(from)} />
          </del>
        )}
        {from !== undefined && to !== undefined && " → "}
        {to !== undefined && <SafeText text={toText(to)} />}
      </dd>
    </>
  );
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(", ") : JSON.stringify(value);
}

/** The fields give times of the reader's own zone. */
function toQuery({ since, until, ...texts }: typeof noFilter): string {
  const moment = (value: string) => (value === "" ? "" : new Date(value).toISOString());
  return Object.entries({ ...texts, since: moment(since), until: moment(until) })
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join("");
}

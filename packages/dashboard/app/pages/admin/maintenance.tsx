import { formatAgo, formatBytes, formatMany } from "../../format.ts";
import { Empty } from "../../parts/states.tsx";

export interface Report {
  name: string;
  startedAt: string;
  endedAt: string;
  report: Record<string, number | boolean>;
}

const titles: Record<string, string> = {
  scrub: "Scrub: rereads all stored bytes and compares checksums",
  sweep: "Sweep: removes leftovers from uploads",
  verify: "Check: compares files, stored objects and usage counters",
  "verify-command": "Last upstow verify",
};
/** Of one and of many. */
const labels: Record<string, [string, string]> = {
  checkedBlobs: ["object checked", "objects checked"],
  damaged: ["damaged", "damaged"],
  mended: ["recovered", "recovered"],
  temporaryFiles: ["temporary file removed", "temporary files removed"],
  orphanedObjects: ["object without a record removed", "objects without a record removed"],
  forgottenRecords: ["old record removed", "old records removed"],
  missingObjects: ["object missing", "objects missing"],
  stagedObjects: ["staged object removed", "staged objects removed"],
  checkedFiles: ["file checked", "files checked"],
  damagedFiles: ["damaged file", "damaged files"],
  uncheckedFiles: ["unreachable file", "unreachable files"],
  orphans: ["object without a file", "objects without a file"],
  wrongCounters: ["wrong counter", "wrong counters"],
  abandonedUploads: ["abandoned upload ended", "abandoned uploads ended"],
};

/** Results of the last runs. */
export function Maintenance({ reports }: { reports: Report[] }) {
  if (reports.length === 0) {
    return (
      <Empty title="Nothing has run yet">
        <p>Checks run every minute, the sweep every hour.</p>
      </Empty>
    );
  }
  return (
    <ul className="rows">
      {reports.map(({ name, report, endedAt }) => (
        <li key={name}>
          <span className="grow">
            <strong>{titles[name] ?? name}</strong>
            <span className="dim">{describe(report)}</span>
          </span>
          <span className={`tag ${isBad(report) ? "failed" : "delivered"}`}>{stateOf(report)}</span>
          <span className="dim ago">{formatAgo(endedAt)}</span>
        </li>
      ))}
    </ul>
  );
}

function describe(report: Report["report"]): string {
  const counts = Object.entries(report).flatMap(([name, value]) => {
    if (typeof value !== "number") return [];
    if (name === "checkedBytes") return [`${formatBytes(value)} read`];
    const label = labels[name];
    return label === undefined ? [] : [formatMany(value, ...label)];
  });
  // A line does not end between a number and what it counts.
  return counts.map((count) => count.replace(" ", "\u00a0")).join(" · ");
}

function isBad(report: Report["report"]): boolean {
  return ["damaged", "missingObjects", "damagedFiles", "wrongCounters"].some(
    (name) => Number(report[name] ?? 0) > 0,
  );
}

function stateOf(report: Report["report"]): string {
  if (isBad(report)) return "Needs attention";
  if (report["hasEnded"] === false) return "In progress";
  return report["hasMore"] === true ? "More to do" : "Done";
}

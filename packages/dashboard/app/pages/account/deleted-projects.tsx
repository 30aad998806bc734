import { useState } from "react";
import { formatAgo } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { type DeletedProject, formatLeft, formatPurge, type Purge } from "./deleted-project.ts";
import { PurgeProject } from "./purge-project.tsx";

/** Deleted projects with remaining data. Renders nothing if there are none. */
export function DeletedProjects() {
  const { data, error, reload } = useLoad<{ projects: DeletedProject[] }>("/projects/deleted");
  const [chosen, setChosen] = useState<DeletedProject | null>(null);
  const [report, setReport] = useState<(Purge & { name: string }) | null>(null);
  const projects = data?.projects ?? [];
  return (
    <>
      {error !== null && <Failure error={error} retry={reload} />}
      {projects.length > 0 && (
        <section>
          <h2>Deleted projects</h2>
          <p className="dim">
            Their files are still served, and count toward your account, until you purge them.
          </p>
          <ul className="rows" aria-label="Deleted projects">
            {projects.map((project) => (
              <li key={project.id}>
                <span className="grow">
                  <strong className="name">
                    <SafeText text={project.name} />
                  </strong>
                  <span className="dim">
                    Deleted {formatAgo(project.deletedAt)} · {formatLeft(project)}
                  </span>
                </span>
                <button type="button" className="danger" onClick={() => setChosen(project)}>
                  Purge<span className="visually-hidden"> {showHidden(project.name)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {/* Outlasts the section, so that the last purge is told too. */}
      <p className="below name" role="status">
        {report !== null && (
          <>
            <SafeText text={report.name} /> was purged: {formatPurge(report)}.
          </>
        )}
      </p>
      {chosen !== null && (
        <PurgeProject
          project={chosen}
          onPurged={(purge) => setReport({ ...purge, name: chosen.name })}
          onEnded={reload}
          // A purge may end while another project is being confirmed.
          onClose={() => setChosen((now) => (now === chosen ? null : now))}
        />
      )}
    </>
  );
}

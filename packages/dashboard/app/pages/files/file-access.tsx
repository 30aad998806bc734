import { AUDIENCE_MAX } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo, formatDeadline, formatTime } from "../../format.ts";
import { usePages } from "../../load.ts";
import { AccessChoice, accessMeaning } from "../../parts/access-choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { Lock } from "../../parts/lock.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { CreateLink } from "./create-link.tsx";
import { ExpiryChoice, startingExpiry, toChange } from "./expiry-choice.tsx";
import type { FoundFile } from "./found-file.ts";

interface CountedLink {
  id: string;
  usesLeft: number;
  maxUses: number;
  createdAt: string;
  expiresAt: string;
}

const titles = {
  access: "Change access",
  expiry: "Change expiry",
  link: "Create link",
  end: "Revoke all links",
};
type Task = keyof typeof titles;

/** Who can read a file, and its links. */
export function FileAccess({ file, onChanged }: { file: FoundFile; onChanged: () => void }) {
  const { api, mayChange } = useWorkspace();
  const path = `${api}/files/links?key=${encodeURIComponent(file.key)}`;
  const links = usePages<CountedLink, "links">(path, "links");
  const [task, setTask] = useState<Task | null>(null);
  const [status, setStatus] = useState("");
  const open = (next: Task) => {
    setTask(next);
    setStatus("");
  };
  const done = (message: string) => {
    setTask(null);
    setStatus(message);
    links.reload();
    onChanged();
  };
  const tasks: Task[] = file.status === "UPLOADED" ? ["access", "expiry", "link", "end"] : ["access"];
  return (
    <>
      <h3>Access</h3>
      <p>
        {file.access === "private" && <Lock />}{" "}
        <strong>{file.access === "private" ? "Private" : "Public"}.</strong> {accessMeaning[file.access]}
        {file.audience !== undefined && (
          <>
            {" "}
            Audience: <SafeText text={file.audience} />
          </>
        )}
      </p>
      {mayChange && (
        <p className="line">
          {tasks.map((name) => (
            <button
              type="button"
              key={name}
              className={name === "end" ? "danger" : undefined}
              onClick={() => open(name)}
            >
              {titles[name]}
            </button>
          ))}
          <span role="status">{status}</span>
        </p>
      )}
      {links.error !== null && <Failure error={links.error} retry={links.reload} />}
      <CountedLinks links={links.items} />
      <MoreButton list={links} />
      {task !== null && (
        <Dialog title={titles[task]} onClose={() => setTask(null)}>
          {task === "access" && <ChangeAccess file={file} onSaved={() => done("Access changed")} />}
          {task === "expiry" && <ChangeExpiry file={file} onSaved={() => done("Expiry changed")} />}
          {task === "link" && <CreateLink file={file} onCreated={links.reload} />}
          {task === "end" && <EndLinks file={file} onEnded={() => done("All links revoked")} />}
        </Dialog>
      )}
    </>
  );
}

function CountedLinks({ links }: { links: CountedLink[] }) {
  if (links.length === 0) return null;
  return (
    <ul className="rows" aria-label="Links with limited uses">
      {links.map(({ id, usesLeft, maxUses, createdAt, expiresAt }) => (
        <li key={id}>
          <span className="grow">
            {usesLeft === 0 ? "Link, used up" : `Link, ${usesLeft} of ${maxUses} uses left`}
            <span className="dim">
              Created {formatAgo(createdAt)}, expires {formatTime(expiresAt)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function ChangeAccess({ file, onSaved }: { file: FoundFile; onSaved: () => void }) {
  const { api } = useWorkspace();
  const [access, setAccess] = useState(file.access);
  const [audience, setAudience] = useState(file.audience ?? "");
  const save = async () => {
    const body = { access, audience: audience.trim() === "" ? null : audience.trim() };
    await callApi("PATCH", `${api}/files/${encodeURIComponent(file.key)}`, body);
    onSaved();
  };
  return (
    <Form submit="Save" onSubmit={save}>
      <AccessChoice value={access} note="Takes effect on the next read." onChange={setAccess} />
      <Field
        label="Audience"
        hint="Groups files for grants and revocation, such as order:981."
        required={false}
        maxLength={AUDIENCE_MAX}
        placeholder="None"
        value={audience}
        onChange={setAudience}
      />
    </Form>
  );
}

function ChangeExpiry({ file, onSaved }: { file: FoundFile; onSaved: () => void }) {
  const { api } = useWorkspace();
  const [expiry, setExpiry] = useState(startingExpiry);
  const save = async () => {
    await callApi("PATCH", `${api}/files/${encodeURIComponent(file.key)}`, toChange(expiry));
    onSaved();
  };
  return (
    <Form submit="Save" onSubmit={save}>
      {file.expiresAt !== null && <p>Expires {formatDeadline(file.expiresAt)}.</p>}
      <ExpiryChoice value={expiry} onChange={setExpiry} />
    </Form>
  );
}

function EndLinks({ file, onEnded }: { file: FoundFile; onEnded: () => void }) {
  const { api } = useWorkspace();
  // Those of a public file cannot be revoked.
  const hasSignedVariants = file.access === "private" && file.thumbnailUrl !== null;
  const end = async () => {
    await callApi("POST", `${api}/files/links/revoke`, { keys: [file.key] });
    onEnded();
  };
  return (
    <Form submit="Revoke all links" isDangerous onSubmit={end}>
      <p>
        Every link to <SafeText text={file.name} /> stops working immediately, wherever it was created.
        {hasSignedVariants && " So do its signed image URLs."} Grants keep working.
      </p>
      <p>This cannot be undone. You can create new links afterwards.</p>
    </Form>
  );
}

import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { EmailField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { type Role, RoleSelect, roleLabels } from "./roles.tsx";

interface Invitation {
  id: string;
  email: string;
  role: Role;
  expiresAt: string;
}

export function Invitations({ projectId }: { projectId: string }) {
  const path = `/projects/${projectId}/invitations`;
  const { data, ...list } = useLoad<{ invitations: Invitation[] }>(path);
  const [isInviting, setInviting] = useState(false);
  const { error, isBusy, run } = useAction();
  const withdraw = (invitation: Invitation) =>
    run(async () => {
      await callApi("DELETE", `${path}/${invitation.id}`);
      list.reload();
    });
  return (
    <section>
      <div className="title">
        <h2>Invitations</h2>
        <button type="button" className="primary" onClick={() => setInviting(true)}>
          Invite member
        </button>
      </div>
      {error !== null && <Failure error={error} />}
      <ListState
        list={{ ...list, items: data?.invitations ?? [] }}
        empty={<Empty title="No open invitations" />}
      >
        <ul className="rows" aria-label="Invitations">
          {data?.invitations.map((invitation) => (
            <li key={invitation.id}>
              <span className="grow">
                <span className="name">
                  <SafeText text={invitation.email} />
                </span>
                <span className="dim">Expires {formatTime(invitation.expiresAt)}</span>
              </span>
              <span className="tag">{roleLabels[invitation.role]}</span>
              <button
                type="button"
                className="danger"
                disabled={isBusy}
                onClick={() => void withdraw(invitation)}
              >
                Withdraw<span className="visually-hidden"> the invitation to {invitation.email}</span>
              </button>
            </li>
          ))}
        </ul>
      </ListState>
      {isInviting && (
        <Dialog title="Invite member" onClose={() => setInviting(false)}>
          <Invite path={path} onInvited={list.reload} />
        </Dialog>
      )}
    </section>
  );
}

/** The link is in this component alone and is gone with it. */
function Invite({ path, onInvited }: { path: string; onInvited: () => void }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("developer");
  const [link, setLink] = useState("");
  const submit = async () => {
    setLink((await callApi<{ link: string }>("POST", path, { email, role })).link);
    onInvited();
  };
  if (link !== "") {
    return (
      <div className="stack">
        <p>
          Send this link to <SafeText text={email} />. It works once, within 7 days, and won't be shown again.
        </p>
        <output className="code secret">{link}</output>
        <CopyButton text={link} label="Copy link" />
      </div>
    );
  }
  return (
    <Form submit="Create invite link" onSubmit={submit}>
      <EmailField value={email} onChange={setEmail} />
      <label htmlFor="invited-role">
        Role
        <RoleSelect id="invited-role" value={role} onChange={setRole} />
      </label>
    </Form>
  );
}

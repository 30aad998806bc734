import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure, ListState } from "../../parts/states.tsx";
import { Unverified } from "../../parts/unverified.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import { Invitations } from "./invitations.tsx";
import { type Member, RemoveMember } from "./remove-member.tsx";
import { RoleSelect, roleHints, roleLabels } from "./roles.tsx";

export default function Members() {
  const { project, reloadProjects } = useWorkspace();
  const path = `/projects/${project.id}/members`;
  const { data, ...list } = useLoad<{ members: Member[] }>(path);
  const session = useLoad<{ account: { id: string } }>("/session");
  const [removing, setRemoving] = useState<Member | null>(null);
  const { error, isBusy, run } = useAction();
  const isOwner = project.role === "owner";
  const ownId = session.data?.account.id;
  return (
    <>
      <h1>Members</h1>
      <ul className="dim hints">
        {(["owner", "developer", "viewer"] as const).map((role) => (
          <li key={role}>
            <strong>{roleLabels[role]}</strong>: {roleHints[role]}
          </li>
        ))}
      </ul>
      {error !== null && <Failure error={error} />}
      <ListState list={{ ...list, items: data?.members ?? [] }} empty={null}>
        <ul className="rows" aria-label="Members">
          {data?.members.map((member) => (
            <li key={member.accountId}>
              <span className="grow">
                <strong className="name">
                  <SafeText text={member.email} />
                </strong>
                {!member.emailVerified && <Unverified />}
                <span className="dim">Since {formatTime(member.since)}</span>
              </span>
              {isOwner && !member.paysForProject ? (
                <RoleSelect
                  label={`Role of ${member.email}`}
                  isDisabled={isBusy}
                  value={member.role}
                  onChange={(role) =>
                    void run(async () => {
                      await callApi("PATCH", `${path}/${member.accountId}`, { role });
                      list.reload();
                      // Their permissions on all pages have changed.
                      if (member.accountId === ownId) reloadProjects();
                    })
                  }
                />
              ) : (
                <span className="tag">{roleLabels[member.role]}</span>
              )}
              {!member.paysForProject && (isOwner || member.accountId === ownId) && (
                <button type="button" className="danger" onClick={() => setRemoving(member)}>
                  {member.accountId === ownId ? "Leave" : "Remove"}
                  <span className="visually-hidden"> {member.email}</span>
                </button>
              )}
            </li>
          ))}
        </ul>
      </ListState>
      {isOwner && <Invitations projectId={project.id} />}
      {removing !== null && (
        <RemoveMember
          member={removing}
          isSelf={removing.accountId === ownId}
          path={`${path}/${removing.accountId}`}
          onRemoved={list.reload}
          onClose={() => setRemoving(null)}
        />
      )}
    </>
  );
}

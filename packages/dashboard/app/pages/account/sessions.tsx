import { callApi } from "../../api.ts";
import { formatAgo } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { nameBrowser } from "./name-browser.ts";

interface SessionItem {
  id: string;
  isCurrent: boolean;
  userAgent: string;
  address: string;
  lastSeenAt: string;
}

export function Sessions() {
  const { data, ...list } = useLoad<{ sessions: SessionItem[] }>("/sessions");
  const { error, isBusy, run } = useAction();
  const end = (session: SessionItem) =>
    run(async () => {
      if (session.isCurrent) {
        await callApi("POST", "/sign-out");
        location.assign("/dashboard");
        return;
      }
      await callApi("DELETE", `/sessions/${session.id}`);
      list.reload();
    });
  return (
    <ListState list={{ ...list, items: data?.sessions ?? [] }} empty={null}>
      {error !== null && <Failure error={error} />}
      <ul className="rows">
        {data?.sessions.map((session) => (
          <li key={session.id}>
            <span className="grow">
              <span className="name">
                <SafeText text={nameBrowser(session.userAgent)} />
              </span>
              <span className="dim">
                {session.address} · {formatAgo(session.lastSeenAt)}
              </span>
            </span>
            {session.isCurrent && <span className="tag live">This browser</span>}
            <button type="button" disabled={isBusy} onClick={() => void end(session)}>
              Sign out
            </button>
          </li>
        ))}
      </ul>
    </ListState>
  );
}

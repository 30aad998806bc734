import { type FormEvent, useState } from "react";
import { callApi } from "../api.ts";
import type { Account } from "../app.tsx";
import { formatAgo } from "../format.ts";
import { useLoad } from "../load.ts";
import { SafeText } from "../parts/safe-text.tsx";
import { Failure, ListState, Loading } from "../parts/states.tsx";
import { useAction } from "../parts/use-action.ts";

interface SessionItem {
  id: string;
  isCurrent: boolean;
  userAgent: string;
  address: string;
  lastSeenAt: string;
}

export default function AccountPage() {
  const session = useLoad<{ account: Account }>("/session");
  return (
    <>
      <h1>Account</h1>
      <section>
        <h2>Where you are signed in</h2>
        <Sessions />
      </section>
      <section>
        <h2>E-mail and password</h2>
        {session.data === null ? <Loading /> : <Credentials email={session.data.account.email} />}
      </section>
    </>
  );
}

function Sessions() {
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
                <SafeText text={session.userAgent} />
              </span>
              <span className="dim">
                {session.address} · {formatAgo(session.lastSeenAt)}
              </span>
            </span>
            {session.isCurrent && <span className="tag live">this one</span>}
            <button type="button" disabled={isBusy} onClick={() => void end(session)}>
              Sign out
            </button>
          </li>
        ))}
      </ul>
    </ListState>
  );
}

function Credentials(props: { email: string }) {
  const [email, setEmail] = useState(props.email);
  const [currentPassword, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [isSaved, setSaved] = useState(false);
  const { error, isBusy, run } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      setSaved(false);
      await callApi("PUT", "/account", { email, password, currentPassword });
      setSaved(true);
      setCurrent("");
      setPassword("");
    });
  };
  return (
    <form className="stack narrow" onSubmit={submit}>
      <label>
        E-mail address
        <input
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </label>
      <label>
        Current password
        <input
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          onChange={(event) => setCurrent(event.target.value)}
        />
      </label>
      <label>
        New password
        <input
          type="password"
          autoComplete="new-password"
          minLength={10}
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </label>
      {error !== null && <Failure error={error} />}
      <p className="line">
        <button type="submit" className="primary" disabled={isBusy}>
          Save
        </button>
        <span role="status">{isSaved ? "Saved. All other sessions were ended." : ""}</span>
      </p>
    </form>
  );
}

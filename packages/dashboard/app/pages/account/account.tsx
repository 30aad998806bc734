import { useContext, useState } from "react";
import { type Account, ReloadAccount } from "../../app.tsx";
import { useLoad } from "../../load.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { WorkspaceContext } from "../../workspace.ts";
import { CodeSettings } from "./code-settings.tsx";
import { Credentials } from "./credentials.tsx";
import { DeletedProjects } from "./deleted-projects.tsx";
import { PasskeySettings } from "./passkey-settings.tsx";
import { Sessions } from "./sessions.tsx";

export interface Factors {
  hasCodes: boolean;
  recoveryCodesLeft: number;
  passkeys: { id: string; name: string; createdAt: string; lastUsedAt: string | null }[];
}

export default function AccountPage() {
  const session = useLoad<{ account: Account }>("/session");
  const factors = useLoad<Factors>("/account/factors");
  const workspace = useContext(WorkspaceContext);
  const reloadAccount = useContext(ReloadAccount);
  const [changes, setChanges] = useState(0);
  const showChange = () => {
    setChanges(changes + 1);
    factors.reload();
    reloadAccount();
  };
  return (
    <>
      <h1>Account</h1>
      <section>
        <h2>Active sessions</h2>
        <Sessions key={changes} />
        <p>
          <Link to={workspace?.urlOf("activity") ?? "/activity"}>View account activity</Link>
        </p>
      </section>
      {factors.error !== null && <Failure error={factors.error} retry={factors.reload} />}
      {factors.data !== null && (
        <>
          <section>
            <h2>One-time codes</h2>
            <CodeSettings factors={factors.data} onChanged={factors.reload} />
          </section>
          <section>
            <h2>Passkeys</h2>
            <PasskeySettings factors={factors.data} onChanged={factors.reload} />
          </section>
        </>
      )}
      <section>
        <h2>Email and password</h2>
        {session.error !== null && <Failure error={session.error} retry={session.reload} />}
        {session.data === null ? (
          <Loading />
        ) : (
          <Credentials
            email={session.data.account.email}
            passkeys={factors.data?.passkeys ?? []}
            onSaved={showChange}
          />
        )}
      </section>
      <DeletedProjects />
    </>
  );
}

import { useContext, useState } from "react";
import { callApi } from "../../api.ts";
import { type Account, ReloadAccount } from "../../app.tsx";
import { useLoad } from "../../load.ts";
import { CurrentPasswordField, EmailField, NewPasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { CodeSettings } from "./code-settings.tsx";
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
  const reloadAccount = useContext(ReloadAccount);
  const [changes, setChanges] = useState(0);
  const showChange = () => {
    setChanges(changes + 1);
    reloadAccount();
  };
  return (
    <>
      <h1>Account</h1>
      <section>
        <h2>Where you are signed in</h2>
        <Sessions key={changes} />
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
        <h2>E-mail and password</h2>
        {session.error !== null && <Failure error={session.error} retry={session.reload} />}
        {session.data === null ? (
          <Loading />
        ) : (
          <Credentials email={session.data.account.email} onSaved={showChange} />
        )}
      </section>
      <DeletedProjects />
    </>
  );
}

function Credentials(props: { email: string; onSaved: () => void }) {
  const [email, setEmail] = useState(props.email);
  const [currentPassword, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [isSaved, setSaved] = useState(false);
  const submit = async () => {
    setSaved(false);
    const kept = password === "" ? {} : { password };
    await callApi("PUT", "/account", { email, currentPassword, ...kept });
    setSaved(true);
    props.onSaved();
    setCurrent("");
    setPassword("");
  };
  return (
    <Form
      className="stack narrow"
      submit="Save"
      onSubmit={submit}
      status={isSaved ? "Saved. All other sessions were ended." : ""}
    >
      <EmailField value={email} onChange={setEmail} />
      <CurrentPasswordField value={currentPassword} onChange={setCurrent} />
      <NewPasswordField
        hint="At least 10 characters, or nothing to keep the one you have."
        required={false}
        value={password}
        onChange={setPassword}
      />
    </Form>
  );
}

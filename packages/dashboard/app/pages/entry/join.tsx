import { useEffect, useState } from "react";
import { addressOf } from "../../address.ts";
import { callApi } from "../../api.ts";
import type { Account } from "../../app.tsx";
import { Alone } from "../../parts/alone.tsx";
import { PasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { goTo, Link } from "../../router.tsx";
import type { Role } from "../members/roles.tsx";
import { CodeStep } from "./code-step.tsx";
import { PasskeyButton } from "./passkey-button.tsx";
import type { SignInAnswer } from "./sign-in.tsx";

const articles: Record<Role, string> = { owner: "an", developer: "a", viewer: "a" };

interface Invitation {
  projectName: string;
  role: Role;
  email: string;
}

/** The token is in the fragment, which browsers never send. */
export default function Join({ onEntered }: { onEntered: () => void }) {
  const [token] = useState(() => location.hash.slice(1));
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const [account, setAccount] = useState<Account | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    const session = callApi<{ account: Account }>("GET", "/session").catch(() => null);
    callApi<Invitation>("POST", "/invitations/look", { token })
      .then(async (found) => {
        setAccount((await session)?.account ?? null);
        setInvitation(found);
      })
      .catch(setProblem);
  }, [token]);

  const join = async () => {
    const { projectId } = await callApi<{ projectId: string }>("POST", "/invitations/accept", { token });
    onEntered();
    goTo(addressOf(projectId, "live", "overview"), { replace: true });
  };
  if (invitation === null) {
    return (
      <Alone>
        <div className="card">
          <h1>Invitation</h1>
          {problem === null ? <Loading /> : <Failure error={problem} />}
          <p className="dim">
            <Link to="/">Sign in</Link>
          </p>
        </div>
      </Alone>
    );
  }
  return (
    <Alone>
      {account === null ? (
        <Enter token={token} invitation={invitation} join={join} />
      ) : account.email === invitation.email ? (
        <Form className="card" submit="Join" onSubmit={join}>
          <Offer invitation={invitation} />
        </Form>
      ) : (
        <Form
          className="card"
          submit="Sign out"
          onSubmit={async () => {
            await callApi("POST", "/sign-out");
            setAccount(null);
          }}
        >
          <Offer invitation={invitation} />
          <p>
            This invitation is for <SafeText text={invitation.email} />. You are signed in as{" "}
            <SafeText text={account.email} />.
          </p>
        </Form>
      )}
    </Alone>
  );
}

function Offer({ invitation }: { invitation: Invitation }) {
  return (
    <>
      <h1>
        Join <SafeText text={invitation.projectName} />
      </h1>
      <p className="dim">
        You were invited as {articles[invitation.role]} {invitation.role}.
      </p>
    </>
  );
}

/** One form for people with and without an account: the page does not know which they are. */
function Enter(props: { token: string; invitation: Invitation; join: () => Promise<void> }) {
  const { token, invitation, join } = props;
  const [password, setPassword] = useState("");
  const [ticket, setTicket] = useState<string | null>(null);
  const submit = async () => {
    const answer = await callApi<SignInAnswer>("POST", "/invitations/sign-up", { token, password });
    if (answer.ticket === undefined) await join();
    else setTicket(answer.ticket);
  };
  if (ticket !== null) return <CodeStep ticket={ticket} onEntered={join} onBack={() => setTicket(null)} />;
  return (
    <Form
      className="card"
      submit="Join"
      busy="One moment…"
      onSubmit={submit}
      footer={<PasskeyButton onEntered={join} />}
    >
      <Offer invitation={invitation} />
      <p>
        You will join as{" "}
        <strong>
          <SafeText text={invitation.email} />
        </strong>
        .
      </p>
      <PasswordField
        hint="If you have an account here, enter its password. Otherwise choose one with at least 10 characters."
        minLength={10}
        value={password}
        onChange={setPassword}
      />
    </Form>
  );
}

import { useEffect, useState } from "react";
import { callApi } from "../../api.ts";
import { Alone } from "../../parts/alone.tsx";
import { EmailField, NewPasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";

/** The token is in the fragment, which browsers never send. */
export default function Claim({ onEntered }: { onEntered: () => void }) {
  const [token] = useState(() => location.hash.slice(1));
  const [known, setKnown] = useState<{ email: string | null } | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    callApi<{ email: string | null }>("POST", "/claim/look", { token }).then(setKnown, setProblem);
  }, [token]);
  return (
    <Alone>
      {known !== null ? (
        <Credentials token={token} known={known.email} onEntered={onEntered} />
      ) : (
        <div className="card">
          <h1>Welcome</h1>
          {problem === null ? <Loading /> : <Failure error={problem} />}
          <SignInHint />
        </div>
      )}
    </Alone>
  );
}

function Credentials(props: { token: string; known: string | null; onEntered: () => void }) {
  const { token, known } = props;
  const [email, setEmail] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const submit = async () => {
    await callApi("POST", "/claim", { token, email, password });
    props.onEntered();
  };
  return (
    <Form
      className="card"
      submit="Open the dashboard"
      busy="Signing in…"
      onSubmit={submit}
      footer={<SignInHint />}
    >
      <h1>Welcome</h1>
      <p className="dim">
        {known === null
          ? "You own this installation. Choose how to sign in from now on."
          : "Choose how to sign in from now on. All other sessions of this account end, and its passkeys and one-time codes are removed."}
      </p>
      <EmailField value={email} onChange={setEmail} />
      <NewPasswordField label="Password" value={password} onChange={setPassword} />
    </Form>
  );
}

function SignInHint() {
  return (
    <p className="dim">
      Already have an account? <Link to="/">Sign in</Link>
    </p>
  );
}

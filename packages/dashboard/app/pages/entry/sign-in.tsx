import { useEffect, useState } from "react";
import { callApi } from "../../api.ts";
import { Alone } from "../../parts/alone.tsx";
import { EmailField, PasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { CodeStep } from "./code-step.tsx";
import { PasskeyButton } from "./passkey-button.tsx";

/** Signed in, or a ticket for the second step. */
export interface SignInAnswer {
  ticket?: string;
}

interface SignInProps {
  /** The session ended while a page was open, which is still there. */
  isAgain: boolean;
  onEntered: () => Promise<void>;
}

export function SignIn({ isAgain, onEntered }: SignInProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [ticket, setTicket] = useState<string | null>(null);
  const submit = async () => {
    const answer = await callApi<SignInAnswer>("POST", "/sign-in", { email, password });
    if (answer.ticket === undefined) await onEntered();
    else setTicket(answer.ticket);
  };
  const [isUnclaimed, setUnclaimed] = useState(false);
  useEffect(() => {
    callApi<{ isClaimed: boolean }>("GET", "/claim").then(
      ({ isClaimed }) => setUnclaimed(!isClaimed),
      // Only a hint: signing in says what is wrong.
      () => {},
    );
  }, []);
  return (
    <Alone>
      {ticket !== null ? (
        <CodeStep ticket={ticket} onEntered={onEntered} onBack={() => setTicket(null)} />
      ) : (
        <Form
          className="card"
          submit="Sign in"
          busy="Signing in…"
          onSubmit={submit}
          footer={
            <>
              <PasskeyButton onEntered={onEntered} />
              {!isUnclaimed && !isAgain && (
                <p className="dim">
                  No password yet? Open your sign-in link. To create a new one, run{" "}
                  <code className="mono">upstow account login-link</code> on the server.
                </p>
              )}
            </>
          }
        >
          <h1>Sign in</h1>
          {isAgain && <p className="dim">Your session has ended. Sign in to continue where you left off.</p>}
          {isUnclaimed && (
            <div className="notice">
              <p>
                This installation has no owner yet. Open the sign-in link that the server printed when it
                first started. It works once and expires after 24 hours. To create a new one, run{" "}
                <code className="mono">upstow account login-link</code> on the server.
              </p>
            </div>
          )}
          <EmailField value={email} onChange={setEmail} />
          <PasswordField value={password} onChange={setPassword} />
        </Form>
      )}
    </Alone>
  );
}

import { type FormEvent, useState } from "react";
import { callApi } from "../api.ts";
import { Failure } from "../parts/states.tsx";
import { useAction } from "../parts/use-action.ts";
import { Link } from "../router.tsx";

/** The token is behind the "#", which browsers send to nobody. */
export function Claim({ onEntered }: { onEntered: () => void }) {
  const [token] = useState(() => location.hash.slice(1));
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { error, isBusy, run } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      await callApi("POST", "/claim", { token, email, password });
      onEntered();
    });
  };
  return (
    <main className="alone">
      <form className="card" onSubmit={submit}>
        <h1>Welcome</h1>
        <p className="dim">You own this installation. Choose how you will sign in from now on.</p>
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
          Password
          <input
            type="password"
            autoComplete="new-password"
            minLength={10}
            required
            aria-describedby="password-rule"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <small id="password-rule">
            At least 10 characters. A few words are easier to keep than symbols.
          </small>
        </label>
        {error !== null && <Failure error={error} />}
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? "One moment …" : "Open the dashboard"}
        </button>
        <p className="dim">
          Done this before? <Link to="/">Sign in</Link>
        </p>
      </form>
    </main>
  );
}

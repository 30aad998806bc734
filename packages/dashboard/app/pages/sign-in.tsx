import { type FormEvent, useState } from "react";
import { callApi } from "../api.ts";
import { Failure } from "../parts/states.tsx";
import { useAction } from "../parts/use-action.ts";

export function SignIn({ onEntered }: { onEntered: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { error, isBusy, run } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      await callApi("POST", "/sign-in", { email, password });
      onEntered();
    });
  };
  return (
    <main className="alone">
      <form className="card" onSubmit={submit}>
        <h1>Sign in</h1>
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
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </label>
        {error !== null && <Failure error={error} />}
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  );
}

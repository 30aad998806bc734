import { useState } from "react";
import { callApi } from "../../api.ts";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";

interface CodeStepProps {
  ticket: string;
  onEntered: () => Promise<void> | void;
  onBack: () => void;
}

/** The second step of a sign-in. The ticket is in this component alone and ends after five minutes. */
export function CodeStep({ ticket, onEntered, onBack }: CodeStepProps) {
  const [code, setCode] = useState("");
  return (
    <Form
      className="card"
      submit="Continue"
      busy="One moment…"
      onSubmit={async () => {
        await callApi("POST", "/sign-in/code", { ticket, code });
        await onEntered();
      }}
      footer={
        <button type="button" className="link" onClick={onBack}>
          Start over
        </button>
      }
    >
      <h1>Two-factor authentication</h1>
      <Field
        label="One-time code"
        hint="From your authenticator app, or one of your recovery codes."
        autoComplete="one-time-code"
        autoFocus
        value={code}
        onChange={setCode}
      />
    </Form>
  );
}

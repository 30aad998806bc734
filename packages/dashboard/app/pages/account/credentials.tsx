import { useState } from "react";
import { callApi } from "../../api.ts";
import { CurrentPasswordField, EmailField, NewPasswordField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import type { Factors } from "./account.tsx";

type Passkeys = Factors["passkeys"];

export function Credentials(props: { email: string; passkeys: Passkeys; onSaved: () => void }) {
  const [email, setEmail] = useState(props.email);
  const [currentPassword, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [removed, setRemoved] = useState<string[]>([]);
  const [isSaved, setSaved] = useState(false);
  const submit = async () => {
    setSaved(false);
    const kept = password === "" ? {} : { password, removePasskeys: removed };
    await callApi("PUT", "/account", { email, currentPassword, ...kept });
    setSaved(true);
    props.onSaved();
    setCurrent("");
    setPassword("");
    setRemoved([]);
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
        hint="At least 10 characters. Leave empty to keep the old one."
        required={false}
        value={password}
        onChange={setPassword}
      />
      {password !== "" && props.passkeys.length > 0 && (
        <RemovePasskeys passkeys={props.passkeys} chosen={removed} onChange={setRemoved} />
      )}
    </Form>
  );
}

/** Someone who knew the old password may have added a passkey, which would still work. */
function RemovePasskeys(props: {
  passkeys: Passkeys;
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const { passkeys, chosen, onChange } = props;
  return (
    <fieldset className="types">
      <legend>Also remove passkeys</legend>
      <small>Passkeys keep working after a password change. Remove those you don't recognize.</small>
      {passkeys.map(({ id, name }) => (
        <label key={id} className="inline">
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
            }
          />
          <span className="name">
            <SafeText text={name} />
          </span>
        </label>
      ))}
    </fieldset>
  );
}

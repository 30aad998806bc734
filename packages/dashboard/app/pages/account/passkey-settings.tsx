import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { CurrentPasswordField, Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty } from "../../parts/states.tsx";
import { canUsePasskeys, createPasskey } from "../entry/passkeys.ts";
import type { Factors } from "./account.tsx";
import { PasswordDialog } from "./password-dialog.tsx";

type Passkey = Factors["passkeys"][number];

export function PasskeySettings({ factors, onChanged }: { factors: Factors; onChanged: () => void }) {
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const close = () => {
    setAdding(false);
    setRemoving(null);
    onChanged();
  };
  return (
    <>
      <p className="dim">Sign in with your fingerprint, face or device PIN, without a password or code.</p>
      {factors.passkeys.length === 0 ? (
        <Empty title="No passkeys yet" />
      ) : (
        <ul className="rows">
          {factors.passkeys.map((passkey) => (
            <li key={passkey.id}>
              <span className="grow">
                <strong className="name">
                  <SafeText text={passkey.name} />
                </strong>
                <span className="dim">
                  Added {formatTime(passkey.createdAt)} ·{" "}
                  {passkey.lastUsedAt === null ? "never used" : `used ${formatAgo(passkey.lastUsedAt)}`}
                </span>
              </span>
              <button type="button" className="danger" onClick={() => setRemoving(passkey)}>
                Remove<span className="visually-hidden"> {passkey.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {canUsePasskeys() ? (
        <p className="below">
          <button type="button" onClick={() => setAdding(true)}>
            Add a passkey
          </button>
        </p>
      ) : (
        <p className="dim below">
          This browser doesn't support passkeys on this page. Open the dashboard over HTTPS or on localhost.
        </p>
      )}
      {isAdding && <AddPasskey onClose={close} />}
      {removing !== null && (
        <PasswordDialog
          title="Remove passkey"
          text={
            <>
              <SafeText text={removing.name} /> can no longer be used to sign in.
            </>
          }
          submit="Remove"
          onSubmit={async (currentPassword) => {
            await callApi("DELETE", `/account/passkeys/${removing.id}`, { currentPassword });
            close();
          }}
          onClose={close}
        />
      )}
    </>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const submit = async () => {
    await createPasskey(password, name);
    onClose();
  };
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <Form submit="Continue" busy="Waiting for the device…" onSubmit={submit}>
        <Field
          label="Name"
          hint="For example, the name of the device."
          maxLength={100}
          value={name}
          onChange={setName}
        />
        <CurrentPasswordField value={password} onChange={setPassword} />
      </Form>
    </Dialog>
  );
}

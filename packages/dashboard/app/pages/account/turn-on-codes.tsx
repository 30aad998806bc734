import { useMemo, useState } from "react";
import { encode } from "uqr";
import { callApi } from "../../api.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { CurrentPasswordField, Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

interface Started {
  secret: string;
  uri: string;
}

/** Password, then a first code from the app, then the recovery codes. Nothing is guarded before the second step. */
export function TurnOnCodes({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState("");
  const [started, setStarted] = useState<Started | null>(null);
  const [code, setCode] = useState("");
  const [recoveryCodes, setRecoveryCodes] = useState<string[]>([]);
  const start = async () =>
    setStarted(await callApi<Started>("POST", "/account/codes", { currentPassword: password }));
  const confirm = async () => {
    const path = "/account/codes/confirm";
    setRecoveryCodes((await callApi<{ recoveryCodes: string[] }>("POST", path, { code })).recoveryCodes);
  };
  return (
    <Dialog title={recoveryCodes.length > 0 ? "Recovery codes" : "Turn on one-time codes"} onClose={onClose}>
      {recoveryCodes.length > 0 ? (
        <RecoveryCodes codes={recoveryCodes} onDone={onClose} />
      ) : started === null ? (
        <Form key="password" submit="Continue" onSubmit={start}>
          <CurrentPasswordField value={password} onChange={setPassword} />
        </Form>
      ) : (
        <Form key="code" submit="Turn on" onSubmit={confirm}>
          <p>Scan this with an authenticator app, or enter the key.</p>
          <QrCode text={started.uri} />
          <p className="line">
            <code className="mono secret">{started.secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code>
            <CopyButton text={started.secret} label="Copy key" />
          </p>
          <Field
            label="Code from the app"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            value={code}
            onChange={setCode}
          />
        </Form>
      )}
    </Dialog>
  );
}

/** Dark on light in every theme: cameras expect that. */
function QrCode({ text }: { text: string }) {
  const { size, path } = useMemo(() => {
    const { size, data } = encode(text, { ecc: "M", border: 4 });
    const squares = data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
    );
    return { size, path: squares.join("") };
  }, [text]);
  return (
    <svg className="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the key">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}

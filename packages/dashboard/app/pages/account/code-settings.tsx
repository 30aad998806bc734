import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatMany } from "../../format.ts";
import { Dialog } from "../../parts/dialog.tsx";
import type { Factors } from "./account.tsx";
import { PasswordDialog } from "./password-dialog.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";
import { TurnOnCodes } from "./turn-on-codes.tsx";

interface CodeSettingsProps {
  factors: Factors;
  onChanged: () => void;
}

export function CodeSettings({ factors, onChanged }: CodeSettingsProps) {
  const [open, setOpen] = useState<"on" | "off" | "renew" | null>(null);
  const [codes, setCodes] = useState<string[]>([]);
  const close = () => {
    setOpen(null);
    setCodes([]);
    onChanged();
  };
  const turnOff = async (currentPassword: string) => {
    await callApi("DELETE", "/account/codes", { currentPassword });
    close();
  };
  const renew = async (currentPassword: string) => {
    const renewed = await callApi<{ recoveryCodes: string[] }>("POST", "/account/recovery-codes", {
      currentPassword,
    });
    setCodes(renewed.recoveryCodes);
  };
  return (
    <>
      <p className="dim">
        An authenticator app shows a new code every 30 seconds. Once turned on, signing in with the password
        also requires a code.
      </p>
      {factors.hasCodes ? (
        <p className="line">
          <span className="tag live">on</span>
          <span>{formatMany(factors.recoveryCodesLeft, "recovery code")} left</span>
          <button type="button" onClick={() => setOpen("renew")}>
            New recovery codes
          </button>
          <button type="button" className="danger" onClick={() => setOpen("off")}>
            Turn off
          </button>
        </p>
      ) : (
        <button type="button" onClick={() => setOpen("on")}>
          Turn on one-time codes
        </button>
      )}
      {open === "on" && <TurnOnCodes onClose={close} />}
      {open === "off" && (
        <PasswordDialog
          title="Turn off one-time codes"
          text="You will sign in with only your password. Your recovery codes stop working."
          submit="Turn off"
          onSubmit={turnOff}
          onClose={close}
        />
      )}
      {open === "renew" && codes.length === 0 && (
        <PasswordDialog
          title="New recovery codes"
          text="Your current recovery codes stop working."
          submit="Create new codes"
          onSubmit={renew}
          onClose={close}
        />
      )}
      {open === "renew" && codes.length > 0 && (
        <Dialog title="Recovery codes" onClose={close}>
          <RecoveryCodes codes={codes} onDone={close} />
        </Dialog>
      )}
    </>
  );
}

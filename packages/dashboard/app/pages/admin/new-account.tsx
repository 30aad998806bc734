import type { TierName } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { EmailField } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { TierSelect } from "./tier-select.tsx";

/** The link is in this component alone and is gone with it. */
export function NewAccount({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState("");
  const [tier, setTier] = useState<TierName>("free");
  const [link, setLink] = useState("");
  const submit = async () =>
    setLink((await callApi<{ link: string }>("POST", "/admin/accounts", { email, tier })).link);
  return (
    <Dialog title="Create account" onClose={onClose}>
      {link === "" ? (
        <Form submit="Create account" onSubmit={submit}>
          <EmailField value={email} onChange={setEmail} />
          <TierSelect value={tier} onChange={setTier} />
        </Form>
      ) : (
        <div className="stack">
          <p>
            Send this link to <SafeText text={email} />. It works once, within 24 hours, and won't be shown
            again. Create more with <code className="mono">upstow account login-link</code>.
          </p>
          <output className="code secret">{link}</output>
          <CopyButton text={link} label="Copy link" />
        </div>
      )}
    </Dialog>
  );
}

import { useState } from "react";
import { callApi } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import type { AccountItem } from "./accounts.tsx";
import { TierSelect } from "./tier-select.tsx";

const limits = [
  { name: "rateUpload", label: "Upload requests per minute", least: 1 },
  { name: "rateTransform", label: "Transform requests per minute", least: 1 },
  { name: "rateOther", label: "Other requests per minute", least: 1 },
  { name: "transformUnits", label: "Transform units per month", least: 0 },
] as const;

export function EditAccount({ account, onClose }: { account: AccountItem; onClose: () => void }) {
  const [tier, setTier] = useState(account.tier);
  const [own, setOwn] = useState(() =>
    Object.fromEntries(limits.map(({ name }) => [name, account[name]?.toString() ?? ""])),
  );
  const hasOwnLimits = tier === "enterprise";
  const submit = async () => {
    const numbers = Object.entries(own).map(([name, text]) => [name, text === "" ? null : Number(text)]);
    await callApi("PATCH", `/admin/accounts/${account.id}`, {
      tier,
      ...(hasOwnLimits ? { limits: Object.fromEntries(numbers) } : {}),
    });
    onClose();
  };
  return (
    <Dialog title="Edit account" onClose={onClose}>
      <Form submit="Save" onSubmit={submit}>
        <p>
          <SafeText text={account.email} />
        </p>
        <TierSelect value={tier} onChange={setTier} />
        {hasOwnLimits &&
          limits.map(({ name, label, least }) => (
            <Field
              key={name}
              label={label}
              type="number"
              min={least}
              step={1}
              required={false}
              placeholder="Default"
              value={own[name] ?? ""}
              onChange={(text) => setOwn((before) => ({ ...before, [name]: text }))}
            />
          ))}
        {!account.mayOwnProjects && (
          <p>This account was created by an invitation. Once you save a tier, it can own projects.</p>
        )}
        <p className="dim">Takes effect on the next request.</p>
      </Form>
    </Dialog>
  );
}

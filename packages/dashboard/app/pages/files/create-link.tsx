import { LINK_MAX_SEC, LINK_SEC, LINK_USES_MAX, type Link } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatMany, formatTime } from "../../format.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { FoundFile } from "./found-file.ts";

const lifetimes = [
  ["600", "10 minutes"],
  [String(LINK_SEC), "1 hour"],
  ["86400", "1 day"],
  [String(LINK_MAX_SEC), "7 days"],
] as const;

/** The link exists only in this component. */
export function CreateLink({ file, onCreated }: { file: FoundFile; onCreated: () => void }) {
  const { api } = useWorkspace();
  const [expiresIn, setExpiresIn] = useState(String(LINK_SEC));
  const [maxUses, setMaxUses] = useState("");
  const [isDownload, setDownload] = useState(false);
  const [link, setLink] = useState<Link | null>(null);
  const create = async () => {
    const body = {
      keys: [file.key],
      expiresIn: Number(expiresIn),
      download: isDownload,
      ...(maxUses === "" ? {} : { maxUses: Number(maxUses) }),
    };
    const { links } = await callApi<{ links: Link[] }>("POST", `${api}/files/links`, body);
    setLink(links[0] ?? null);
    onCreated();
  };
  if (link !== null) return <CreatedLink link={link} />;
  return (
    <Form submit="Create link" onSubmit={create}>
      <p>
        Anyone who has the link can read <SafeText text={file.name} />.
      </p>
      <Choice label="Expires after" options={lifetimes} value={expiresIn} onChange={setExpiresIn} />
      <Field
        label="Maximum uses"
        hint={`1 to ${LINK_USES_MAX.toLocaleString()}. Every full download counts as one.`}
        type="number"
        min={1}
        max={LINK_USES_MAX}
        required={false}
        placeholder="Unlimited"
        value={maxUses}
        onChange={setMaxUses}
      />
      <label className="inline">
        <input type="checkbox" checked={isDownload} onChange={(event) => setDownload(event.target.checked)} />
        Download instead of opening in the browser
      </label>
    </Form>
  );
}

function CreatedLink({ link: { url, maxUses, expiresAt } }: { link: Link }) {
  return (
    <div className="stack">
      <p>
        Copy this link now; it won't be shown again. It expires {formatTime(expiresAt)}
        {maxUses !== null && ` or after ${formatMany(maxUses, "use")}`}.
      </p>
      <output className="code secret">{url}</output>
      <CopyButton text={url} label="Copy link" />
    </div>
  );
}

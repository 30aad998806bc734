import {
  UPLOAD_GRANT_FILES_MAX,
  UPLOAD_GRANT_MAX_SEC,
  UPLOAD_GRANT_SEC,
  type UploadGrant,
} from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatTime } from "../../format.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";

const lifetimes = [
  ["600", "10 minutes"],
  [String(UPLOAD_GRANT_SEC), "1 hour"],
  [String(UPLOAD_GRANT_MAX_SEC), "1 day"],
] as const;

const formUrl = ({ token }: UploadGrant) => `${location.origin}/form/${token}`;

/** The token exists only in this component. */
export function CreateUploadGrant({ slugs }: { slugs: string[] }) {
  const { api } = useWorkspace();
  const [routeSlug, setRouteSlug] = useState(slugs.includes("default") ? "default" : (slugs[0] ?? ""));
  const [expiresIn, setExpiresIn] = useState(String(UPLOAD_GRANT_SEC));
  const [maxFiles, setMaxFiles] = useState("1");
  const [grant, setGrant] = useState<UploadGrant | null>(null);
  const submit = async () => {
    const body = { routeSlug, expiresIn: Number(expiresIn), maxFiles: Number(maxFiles) };
    setGrant((await callApi<{ grant: UploadGrant }>("POST", `${api}/upload/grants`, body)).grant);
  };
  if (grant !== null) {
    return (
      <div className="stack">
        <p>
          Copy this link now; it won't be shown again. It expires {formatTime(grant.expiresAt)}. Anyone who
          opens it can upload to this route, but can't read or list files. Your own HTML forms can post to it.
        </p>
        <output className="code secret">{formUrl(grant)}</output>
        <CopyButton text={formUrl(grant)} label="Copy link" />
        <p>
          Programs send the grant as a bearer token to <code>{location.origin}/tus</code> or{" "}
          <code>{location.origin}/resumable</code>:
        </p>
        <output className="code secret">{grant.token}</output>
        <CopyButton text={grant.token} label="Copy grant" />
      </div>
    );
  }
  return (
    <Form submit="Create link" onSubmit={submit}>
      <p>Anyone who opens the link can upload to a route, without an account or an API key.</p>
      <Choice label="Route" options={slugs} value={routeSlug} onChange={setRouteSlug} />
      <Choice label="Expires after" options={lifetimes} value={expiresIn} onChange={setExpiresIn} />
      <Field
        label="Maximum files"
        type="number"
        min={1}
        max={UPLOAD_GRANT_FILES_MAX}
        value={maxFiles}
        onChange={setMaxFiles}
      />
    </Form>
  );
}

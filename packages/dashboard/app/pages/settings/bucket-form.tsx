import { useState } from "react";
import { callApi } from "../../api.ts";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";
import type { Bucket } from "./storage-settings.tsx";

const nothing = {
  endpoint: "",
  region: "",
  bucket: "",
  prefix: "upstow/",
  accessKeyId: "",
  secretAccessKey: "",
};

/** The keys live in this form alone: they go to the server, and nothing brings them back. */
export function BucketForm({ known, onSaved }: { known: Bucket | null; onSaved: () => void }) {
  const { project } = useWorkspace();
  const [values, setValues] = useState(() =>
    known === null
      ? nothing
      : { ...nothing, ...known, endpoint: known.endpoint ?? "", accessKeyId: "", secretAccessKey: "" },
  );
  const [forcePathStyle, setPathStyle] = useState(known?.forcePathStyle ?? true);
  const bind = (name: keyof typeof nothing) => ({
    value: values[name],
    autoComplete: "off",
    onChange: (value: string) => setValues({ ...values, [name]: value }),
  });
  const save = async () => {
    const { endpoint, region, bucket, prefix, accessKeyId, secretAccessKey } = values;
    await callApi("PUT", `/projects/${project.id}/storage`, {
      endpoint: endpoint === "" ? null : endpoint,
      ...(region === "" ? {} : { region }),
      bucket,
      prefix,
      forcePathStyle,
      accessKeyId,
      secretAccessKey,
    });
    onSaved();
  };
  return (
    <Form submit="Test and save" busy="Testing the bucket…" onSubmit={save}>
      <Field
        label="Endpoint"
        hint="Leave empty for Amazon S3."
        type="url"
        required={false}
        {...bind("endpoint")}
      />
      <Field label="Region" hint="Default: us-east-1." required={false} {...bind("region")} />
      <Field label="Bucket" {...bind("bucket")} />
      <Field label="Prefix" hint="Prepended to every object name." required={false} {...bind("prefix")} />
      <label className="inline">
        <input
          type="checkbox"
          checked={forcePathStyle}
          onChange={(event) => setPathStyle(event.target.checked)}
        />
        Path-style URLs, with the bucket in the path instead of the host name
      </label>
      <Field label="Access key ID" {...bind("accessKeyId")} />
      <Field
        label="Secret access key"
        type="password"
        {...bind("secretAccessKey")}
        autoComplete="new-password"
      />
    </Form>
  );
}

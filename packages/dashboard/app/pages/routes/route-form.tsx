import { ROUTE_ENVIRONMENTS, type Router } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { AccessChoice } from "../../parts/access-choice.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SizeField, toBytes, toSizeInput } from "./size-field.tsx";
import { TypePicker } from "./type-picker.tsx";

export function RouteForm({ route, onSaved }: { route: Router | null; onSaved: () => void }) {
  const { liveApi, project } = useWorkspace();
  const [slug, setSlug] = useState(route?.slug ?? "");
  const [allowedTypes, setTypes] = useState(route?.allowedTypes ?? []);
  const [size, setSize] = useState(() => toSizeInput(route?.maxFileSize ?? null));
  const [webhookUrl, setWebhookUrl] = useState(route?.webhookUrl ?? "");
  const [access, setAccess] = useState(route?.access ?? "public");
  const [environment, setEnvironment] = useState<string>(route?.environment ?? "all");
  const submit = async () => {
    const body = {
      slug,
      allowedTypes,
      maxFileSize: toBytes(size),
      webhookUrl: webhookUrl === "" ? null : webhookUrl,
      environment,
      access,
    };
    if (route === null) await callApi("POST", `${liveApi}/projects/${project.id}/routers`, body);
    else await callApi("PATCH", `${liveApi}/routers/${route.id}`, body);
    onSaved();
  };
  return (
    <Form submit="Save" onSubmit={submit}>
      <Field
        label="Slug"
        hint="What uploads name: letters, digits, _ and -."
        maxLength={100}
        pattern="[A-Za-z0-9_\-]+"
        title="Letters, digits, _ and -"
        value={slug}
        onChange={setSlug}
      />
      <TypePicker types={allowedTypes} onChange={setTypes} />
      <SizeField size={size} onChange={setSize} />
      <Field
        label="Webhook URL"
        hint="Public and https. It hears of every finished upload."
        type="url"
        required={false}
        placeholder="none"
        value={webhookUrl}
        onChange={setWebhookUrl}
      />
      <AccessChoice value={access} note="Applies to new uploads." onChange={setAccess} />
      <Choice
        label="Environment"
        options={ROUTE_ENVIRONMENTS}
        value={environment}
        onChange={setEnvironment}
      />
    </Form>
  );
}

import { EXPIRE_AFTER_MAX_DAYS, ROUTE_ENVIRONMENTS, type Router } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { AccessChoice } from "../../parts/access-choice.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";
import { SizeField, toBytes, toSizeInput } from "./size-field.tsx";
import { TypePicker } from "./type-picker.tsx";

const environmentLabels = { all: "Live and test", live: "Live only", test: "Test only" };
const environments = ROUTE_ENVIRONMENTS.map((name) => [name, environmentLabels[name]] as const);

const scanChoices = [
  ["off", "Off"],
  ["refuse", "On, reject files too large to scan"],
  ["allow", "On, allow files too large to scan"],
] as const;

export function RouteForm({ route, onSaved }: { route: Router | null; onSaved: () => void }) {
  const { liveApi, project } = useWorkspace();
  const [slug, setSlug] = useState(route?.slug ?? "");
  const [allowedTypes, setTypes] = useState(route?.allowedTypes ?? []);
  const [size, setSize] = useState(() => toSizeInput(route?.maxFileSize ?? null));
  const [webhookUrl, setWebhookUrl] = useState(route?.webhookUrl ?? "");
  const [access, setAccess] = useState(route?.access ?? "public");
  const [environment, setEnvironment] = useState<string>(route?.environment ?? "all");
  const [expireAfterDays, setExpireAfterDays] = useState(String(route?.expireAfterDays ?? ""));
  const scanBefore = route?.scan === true ? route.scanUnknown : "off";
  const [scan, setScan] = useState<string>(scanBefore);
  const submit = async () => {
    const body = {
      slug,
      allowedTypes,
      maxFileSize: toBytes(size),
      webhookUrl: webhookUrl === "" ? null : webhookUrl,
      environment,
      access,
      expireAfterDays: expireAfterDays === "" ? null : Number(expireAfterDays),
      ...(scan === scanBefore
        ? {}
        : { scan: scan !== "off", ...(scan === "off" ? {} : { scanUnknown: scan }) }),
    };
    if (route === null) await callApi("POST", `${liveApi}/projects/${project.id}/routers`, body);
    else await callApi("PATCH", `${liveApi}/routers/${route.id}`, body);
    onSaved();
  };
  return (
    <Form submit="Save" onSubmit={submit}>
      <Field
        label="Slug"
        hint="Uploads refer to the route by its slug. Letters, digits, _ and -."
        maxLength={100}
        pattern="[A-Za-z0-9_\-]+"
        title="Letters, digits, _ and -"
        value={slug}
        onChange={setSlug}
      />
      <SizeField size={size} onChange={setSize} />
      <Field
        label="Webhook URL"
        hint="Public HTTPS URL, called after every completed upload."
        type="url"
        required={false}
        placeholder="None"
        value={webhookUrl}
        onChange={setWebhookUrl}
      />
      <div className="pair">
        <AccessChoice value={access} note="Applies to new uploads." onChange={setAccess} />
        <Choice label="Environment" options={environments} value={environment} onChange={setEnvironment} />
      </div>
      <Field
        label="Delete files after days"
        hint="Counted from each upload. Leave empty to keep files."
        type="number"
        required={false}
        min={1}
        max={EXPIRE_AFTER_MAX_DAYS}
        placeholder="Never"
        value={expireAfterDays}
        onChange={setExpireAfterDays}
      />
      <Choice
        label="Virus scan"
        hint="Files can't be read until they are found clean. Infected files are deleted."
        options={scanChoices}
        value={scan}
        onChange={setScan}
      />
      <TypePicker types={allowedTypes} onChange={setTypes} />
    </Form>
  );
}

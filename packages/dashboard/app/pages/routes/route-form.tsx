import {
  CLAIM_WITHIN_MAX_SEC,
  type ContentCheck,
  EXPIRE_AFTER_MAX_DAYS,
  ROUTE_ENVIRONMENTS,
  type RouteEnvironment,
  type Router,
  type ScanUnknown,
  type StripChoice,
} from "@upstow/contract";
import { type ReactNode, useState } from "react";
import { callApi } from "../../api.ts";
import { AccessChoice } from "../../parts/access-choice.tsx";
import { endOfFiles } from "../../parts/after-deletion.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";
import { AmountField, sizeUnits, timeUnits } from "./amount-field.tsx";
import { changesOf, type RouteValues, toValues } from "./route-values.ts";
import { TypePicker } from "./type-picker.tsx";

const environmentLabels = { all: "Live and test", live: "Live only", test: "Test only" };
const environments = ROUTE_ENVIRONMENTS.map((name) => [name, environmentLabels[name]] as const);

const contentChecks = [
  ["off", "Off"],
  ["warn", "On, log mismatches"],
  ["enforce", "On, reject mismatches"],
] as const;
const stripChoices = [
  ["off", "Keep"],
  ["gps", "Remove where the picture was taken"],
  ["all", "Remove all"],
] as const;
const scanChoices = [
  ["off", "Off"],
  ["refuse", "On, reject files too large to scan"],
  ["allow", "On, allow files too large to scan"],
] as const;

export function RouteForm({ route, onSaved }: { route: Router | null; onSaved: () => void }) {
  const { liveApi, project } = useWorkspace();
  const [before] = useState(() => toValues(route));
  const [values, setValues] = useState(before);
  const set = (change: Partial<RouteValues>) => setValues((now) => ({ ...now, ...change }));
  const submit = async () => {
    const body = changesOf(values, before);
    if (route === null) await callApi("POST", `${liveApi}/projects/${project.id}/routers`, body);
    else await callApi("PATCH", `${liveApi}/routers/${route.id}`, body);
    onSaved();
  };
  return (
    <Form submit="Save" onSubmit={submit}>
      <Field
        label="Slug"
        hint="Uploads refer to the route by its slug. Letters, digits, hyphens and underscores."
        maxLength={100}
        pattern="[A-Za-z0-9_\-]+"
        title="Letters, digits, hyphens and underscores"
        value={values.slug}
        onChange={(slug) => set({ slug })}
      />
      <AmountField
        label="Largest file"
        unitLabel="Unit"
        units={sizeUnits}
        placeholder="Plan limit"
        value={values.maxFileSize}
        onChange={(maxFileSize) => set({ maxFileSize })}
      />
      <Field
        label="Webhook URL"
        hint="Public HTTPS URL, called after every completed upload."
        type="url"
        required={false}
        placeholder="None"
        value={values.webhookUrl}
        onChange={(webhookUrl) => set({ webhookUrl })}
      />
      <div className="pair">
        <AccessChoice
          value={values.access}
          note="Applies to new uploads."
          onChange={(access) => set({ access })}
        />
        <Choice
          label="Environment"
          options={environments}
          value={values.environment}
          onChange={(environment) => set({ environment: environment as RouteEnvironment })}
        />
      </div>
      <TypePicker types={values.allowedTypes} onChange={(allowedTypes) => set({ allowedTypes })} />
      <Inspection before={before} values={values} set={set} />
      <Lifetime before={before} values={values} set={set} />
      <Section title="HTML forms" isUsed={before.formOrigins !== ""}>
        <label>
          Redirect origins
          <textarea
            rows={3}
            spellCheck={false}
            placeholder="https://www.example.com"
            value={values.formOrigins}
            onChange={(event) => set({ formOrigins: event.target.value })}
          />
          <small>Sites that HTML forms may return to after an upload, one per line.</small>
        </label>
      </Section>
    </Form>
  );
}

interface PartProps {
  before: RouteValues;
  values: RouteValues;
  set: (change: Partial<RouteValues>) => void;
}

function Inspection({ before, values, set }: PartProps) {
  const isUsed =
    before.checkContent !== "off" || before.stripMetadata !== "off" || before.keepLocation || before.scan;
  return (
    <Section title="Inspection" isUsed={isUsed}>
      <Choice
        label="Content check"
        hint="Compares the content of each file with its declared type and the allowed types."
        options={contentChecks}
        value={values.checkContent}
        onChange={(checkContent) => set({ checkContent: checkContent as ContentCheck })}
      />
      <Choice
        label="Metadata in pictures"
        hint="For JPEG, PNG and WebP. If metadata is removed, pictures over 50 MB are rejected."
        options={stripChoices}
        value={values.stripMetadata}
        onChange={(stripMetadata) => set({ stripMetadata: stripMetadata as StripChoice })}
      />
      <label className="inline">
        <input
          type="checkbox"
          checked={values.keepLocation}
          onChange={(event) => set({ keepLocation: event.target.checked })}
        />
        Show in API responses where pictures were taken
      </label>
      <Choice
        label="Virus scan"
        hint="Files can't be read until they are found clean. Infected files are deleted."
        options={scanChoices}
        value={values.scan ? values.scanUnknown : "off"}
        onChange={(scan) =>
          set(scan === "off" ? { scan: false } : { scan: true, scanUnknown: scan as ScanUnknown })
        }
      />
    </Section>
  );
}

function Lifetime({ before, values, set }: PartProps) {
  const { project } = useWorkspace();
  const end = endOfFiles(project.trashDays);
  return (
    <Section
      title="Expiry and claims"
      isUsed={before.expireAfterDays !== "" || before.claimWithin.text !== ""}
    >
      <Field
        label="Files expire after days"
        hint={`Counted from the start of an upload, unless it sets its own expiry. Expired files ${end}.`}
        type="number"
        required={false}
        min={1}
        max={EXPIRE_AFTER_MAX_DAYS}
        placeholder="Never"
        value={values.expireAfterDays}
        onChange={(expireAfterDays) => set({ expireAfterDays })}
      />
      <AmountField
        label="Claim within"
        unitLabel="Time unit"
        units={timeUnits}
        max={CLAIM_WITHIN_MAX_SEC}
        placeholder="No claim needed"
        hint={`Up to 30 days from completion. Files that your backend doesn't claim by then ${end}.`}
        value={values.claimWithin}
        onChange={(claimWithin) => set({ claimWithin })}
      />
    </Section>
  );
}

/** Fields that most routes do without. */
function Section({ title, isUsed, children }: { title: string; isUsed: boolean; children: ReactNode }) {
  return (
    <details
      className="section"
      open={isUsed || undefined}
      // Browsers can't show what is wrong with a field that is hidden.
      onInvalidCapture={({ currentTarget }) => {
        currentTarget.open = true;
      }}
    >
      <summary>{title}</summary>
      <div className="stack">{children}</div>
    </details>
  );
}

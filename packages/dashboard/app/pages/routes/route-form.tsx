import type { Router } from "@upstow/contract";
import { type FormEvent, useState } from "react";
import { callApi } from "../../api.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import { SizeField, toBytes, toSizeInput } from "./size-field.tsx";
import { TypePicker } from "./type-picker.tsx";

export function RouteForm({ route, onSaved }: { route: Router | null; onSaved: () => void }) {
  const { liveApi, project } = useWorkspace();
  const [slug, setSlug] = useState(route?.slug ?? "");
  const [allowedTypes, setTypes] = useState(route?.allowedTypes ?? []);
  const [size, setSize] = useState(() => toSizeInput(route?.maxFileSize ?? null));
  const [webhookUrl, setWebhookUrl] = useState(route?.webhookUrl ?? "");
  const [environment, setEnvironment] = useState<string>(route?.environment ?? "all");
  const { error, isBusy, run } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const body = {
        slug,
        allowedTypes,
        maxFileSize: toBytes(size),
        webhookUrl: webhookUrl === "" ? null : webhookUrl,
        environment,
      };
      if (route === null) await callApi("POST", `${liveApi}/projects/${project.id}/routers`, body);
      else await callApi("PATCH", `${liveApi}/routers/${route.id}`, body);
      onSaved();
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label>
        Slug
        <input
          required
          maxLength={100}
          pattern="[A-Za-z0-9_\-]+"
          title="Letters, digits, _ and -"
          value={slug}
          onChange={(event) => setSlug(event.target.value)}
        />
        <small>What uploads name: letters, digits, _ and -.</small>
      </label>
      <TypePicker types={allowedTypes} onChange={setTypes} />
      <SizeField size={size} onChange={setSize} />
      <label>
        Webhook URL
        <input
          type="url"
          value={webhookUrl}
          placeholder="none"
          onChange={(event) => setWebhookUrl(event.target.value)}
        />
        <small>Public and https. It hears of every finished upload.</small>
      </label>
      <label>
        Environment
        <select value={environment} onChange={(event) => setEnvironment(event.target.value)}>
          <option value="all">all</option>
          <option value="live">live</option>
          <option value="test">test</option>
        </select>
      </label>
      {error !== null && <Failure error={error} />}
      <button type="submit" className="primary" disabled={isBusy}>
        Save
      </button>
    </form>
  );
}

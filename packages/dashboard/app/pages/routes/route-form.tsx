import type { Router } from "@upstow/contract";
import { type FormEvent, useState } from "react";
import { callApi } from "../../api.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

const megabyte = 1024 * 1024;
const commonTypes = ["image/*", "video/*", "audio/*", "text/*", "application/pdf"];

export function RouteForm({ route, onSaved }: { route: Router | null; onSaved: () => void }) {
  const { liveApi, project } = useWorkspace();
  const [slug, setSlug] = useState(route?.slug ?? "");
  const [types, setTypes] = useState(route?.allowedTypes.join(", ") ?? "");
  const [size, setSize] = useState(route?.maxFileSize == null ? "" : String(route.maxFileSize / megabyte));
  const [webhookUrl, setWebhookUrl] = useState(route?.webhookUrl ?? "");
  const [environment, setEnvironment] = useState<string>(route?.environment ?? "all");
  const { error, isBusy, run } = useAction();
  const list = types
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const body = {
        slug,
        allowedTypes: list,
        maxFileSize: size === "" ? null : Math.round(Number(size) * megabyte),
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
        <input required value={slug} onChange={(event) => setSlug(event.target.value)} />
      </label>
      <label>
        Allowed types
        <input value={types} placeholder="every type" onChange={(event) => setTypes(event.target.value)} />
      </label>
      <p className="line">
        {commonTypes
          .filter((type) => !list.includes(type))
          .map((type) => (
            <button
              type="button"
              key={type}
              className="small"
              onClick={() => setTypes([...list, type].join(", "))}
            >
              + {type}
            </button>
          ))}
      </p>
      <label>
        Largest file, in MB
        <input
          type="number"
          min="0.01"
          step="any"
          value={size}
          placeholder="what the tier allows"
          onChange={(event) => setSize(event.target.value)}
        />
      </label>
      <label>
        Webhook URL
        <input
          type="url"
          value={webhookUrl}
          placeholder="none"
          onChange={(event) => setWebhookUrl(event.target.value)}
        />
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

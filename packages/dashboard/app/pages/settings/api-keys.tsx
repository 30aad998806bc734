import { type ApiKey, ENVIRONMENTS, type Environment } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { Choice } from "../../parts/choice.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, ListState } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";

export function ApiKeys() {
  const { mayChange } = useWorkspace();
  const list = useKeys();
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const done = () => {
    setRevoking(null);
    list.reload();
  };
  return (
    <>
      <div className="title">
        <h2>API keys</h2>
        {mayChange && (
          <button type="button" className="primary" onClick={() => setCreating(true)}>
            Create key
          </button>
        )}
      </div>
      <p className="dim">
        Keep API keys on your server. Live keys work with live files, test keys with test files.
      </p>
      <ListState list={list} empty={<Empty title="No keys yet" />}>
        <ul className="rows keys">
          {list.items.map((key) => (
            <li key={key.id}>
              <span className="grow">
                <strong className="name">
                  <SafeText text={key.name} />
                </strong>
                <span className="mono dim">{key.prefix}</span>
              </span>
              <span className={`tag ${key.type}`}>{key.type === "live" ? "Live" : "Test"}</span>
              <span className="dim ago">
                {key.lastUsedAt === null ? "Never used" : `Used ${formatAgo(key.lastUsedAt)}`}
              </span>
              {mayChange && (
                <button type="button" className="danger" onClick={() => setRevoking(key)}>
                  Revoke<span className="visually-hidden"> {showHidden(key.name)}</span>
                </button>
              )}
            </li>
          ))}
        </ul>
      </ListState>
      {isCreating && (
        <Dialog title="Create key" onClose={() => setCreating(false)}>
          <CreateKey onCreated={list.reload} />
        </Dialog>
      )}
      {revoking !== null && (
        <Dialog title="Revoke key" onClose={() => setRevoking(null)}>
          <RevokeKey apiKey={revoking} onDone={done} />
        </Dialog>
      )}
    </>
  );
}

/** Each environment lists its own. */
function useKeys() {
  const { project } = useWorkspace();
  const pathOf = (type: Environment) => `/in/${project.id}/${type}/projects/${project.id}/keys`;
  const live = useLoad<{ keys: ApiKey[] }>(pathOf("live"));
  const test = useLoad<{ keys: ApiKey[] }>(pathOf("test"));
  return {
    items: [...(live.data?.keys ?? []), ...(test.data?.keys ?? [])],
    error: live.error ?? test.error,
    isLoading: live.isLoading || test.isLoading,
    reload() {
      live.reload();
      test.reload();
    },
  };
}

const environments = ENVIRONMENTS.map((name) => [name, name === "live" ? "Live" : "Test"] as const);

/** The secret lives in this component alone and is gone with it. */
function CreateKey({ onCreated }: { onCreated: () => void }) {
  const { project, environment } = useWorkspace();
  const [name, setName] = useState("");
  const [type, setType] = useState(environment);
  const [secret, setSecret] = useState("");
  const submit = async () => {
    const path = `/in/${project.id}/${type}/projects/${project.id}/keys`;
    const created = await callApi<{ secret: string }>("POST", path, { name });
    setSecret(created.secret);
    onCreated();
  };
  if (secret !== "") {
    return (
      <div className="stack">
        <p>Copy the key now. It won't be shown again. If you lose it, revoke it and create another.</p>
        <output className="code secret">{secret}</output>
        <CopyButton text={secret} label="Copy key" />
      </div>
    );
  }
  return (
    <Form submit="Create" onSubmit={submit}>
      <Field label="Name" maxLength={100} value={name} onChange={setName} />
      <Choice
        label="Environment"
        options={environments}
        value={type}
        onChange={(chosen) => setType(chosen === "test" ? "test" : "live")}
      />
    </Form>
  );
}

function RevokeKey({ apiKey, onDone }: { apiKey: ApiKey; onDone: () => void }) {
  const { project } = useWorkspace();
  const revoke = async () => {
    await callApi("DELETE", `/in/${project.id}/${apiKey.type}/keys/${apiKey.id}`);
    onDone();
  };
  return (
    <Form submit="Revoke key" isDangerous onSubmit={revoke}>
      <p>
        Requests with{" "}
        <strong>
          <SafeText text={apiKey.name} />
        </strong>{" "}
        (<span className="mono">{apiKey.prefix}</span>) are rejected immediately. This cannot be undone.
      </p>
    </Form>
  );
}

import { Icon } from "@upstow/kit/icon";
import { circleCheckIcon, circleIcon } from "@upstow/kit/icons";
import { type ReactNode, useState } from "react";
import { callApi } from "../../api.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

/** From nothing to a first upload, with this instance's URL and a key that is made on request. */
export function GetStarted() {
  const { api, project, environment, mayChange, urlOf } = useWorkspace();
  const [secret, setSecret] = useState<string | null>(null);
  const { error, isBusy, run } = useAction();
  const createKey = () =>
    run(async () => {
      const path = `${api}/projects/${project.id}/keys`;
      setSecret((await callApi<{ secret: string }>("POST", path, { name: "Quick start" })).secret);
    });
  const key = secret ?? `svc_${environment}_…`;
  return (
    <section aria-labelledby="get-started">
      <h2 id="get-started">Get started</h2>
      <ol className="checklist">
        <Step title="Create an API key" isDone={secret !== null}>
          {secret === null ? (
            <>
              <p className="dim">
                Your server sends it with every request. Keys created here work with {environment} files.
              </p>
              {mayChange && (
                <button type="button" className="primary" disabled={isBusy} onClick={() => void createKey()}>
                  Create key
                </button>
              )}
              {error !== null && <Failure error={error} />}
            </>
          ) : (
            <p>
              It is included in the snippets below. Copy it now: it won't be shown again. You can revoke it
              under <Link to={urlOf("settings/keys")}>Settings</Link>.
            </p>
          )}
        </Step>
        <Step title="Set two environment variables" isDone={false}>
          <CodeBlock label=".env" code={`UPSTOW_URL=${location.origin}\nUPSTOW_API_KEY=${key}`} />
        </Step>
        <Step title="Add uploads to your app" isDone={false}>
          <Snippets apiKey={key} />
        </Step>
        <Step title="Upload your first file" isDone={false}>
          <p className="dim">
            Run your app, or <Link to={urlOf("files")}>drop a file in the dashboard</Link>. This page then
            shows the project's activity.
          </p>
        </Step>
      </ol>
    </section>
  );
}

function Step({ title, isDone, children }: { title: string; isDone: boolean; children: ReactNode }) {
  return (
    <li>
      <Icon of={isDone ? circleCheckIcon : circleIcon} className={isDone ? "icon good-text" : "icon dim"} />
      <div>
        <h3>
          {title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}

const kinds = [
  ["app", "Existing app"],
  ["packages", "Packages"],
  ["curl", "curl"],
] as const;
type Kind = (typeof kinds)[number][0];

function Snippets({ apiKey }: { apiKey: string }) {
  const [kind, setKind] = useState<Kind>("app");
  return (
    <>
      <fieldset className="switch snippet-kinds">
        <legend className="visually-hidden">Snippet</legend>
        {kinds.map(([name, label]) => (
          <button type="button" key={name} aria-pressed={kind === name} onClick={() => setKind(name)}>
            {label}
          </button>
        ))}
      </fieldset>
      <p className="dim">{hints[kind]}</p>
      <CodeBlock label="Shell" code={snippetOf(kind, location.origin, apiKey)} />
      <p className="dim">
        <a href="/docs/quick-start">Quick start</a> · <a href="/docs">All guides</a>
      </p>
    </>
  );
}

const hints: Record<Kind, string> = {
  app: "Run this in your app's folder. It detects the framework, shows the changes, and asks before writing.",
  packages: "This instance's packages, in the matching version.",
  curl: "Requests an upload URL, sends the bytes, and completes the upload.",
};

function snippetOf(kind: Kind, url: string, key: string): string {
  if (kind === "app") return `UPSTOW_URL=${url} UPSTOW_API_KEY=${key} \\\n  npx ${url}/packages/cli.tgz init`;
  if (kind === "packages") return `npm install ${url}/packages/sdk.tgz ${url}/packages/react.tgz`;
  return [
    `API=${url}/api/v1`,
    `AUTH='Authorization: Bearer ${key}'`,
    "JSON='Content-Type: application/json'",
    "printf 'hello' > hello.txt",
    'UPLOAD=$(curl -s "$API/upload/request" -H "$AUTH" -H "$JSON" -d \'{',
    '  "fileName": "hello.txt", "fileSize": 5,',
    '  "contentType": "text/plain", "routeSlug": "default"',
    "}')",
    'field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }',
    'curl -s -X PUT "$(echo "$UPLOAD" | field uploadUrl)" \\',
    "  -H 'Content-Type: text/plain' --data-binary @hello.txt",
    'curl -s "$API/upload/complete" -H "$AUTH" -H "$JSON" \\',
    `  -d "{\\"fileId\\":\\"$(echo "$UPLOAD" | field fileId)\\"}"`,
  ].join("\n");
}

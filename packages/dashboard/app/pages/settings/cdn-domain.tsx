import { useState } from "react";
import { callApi } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

interface DeliverySettings {
  /** The project's own domain, such as "https://files.example.com"; null where it has none. */
  ownUrl: string | null;
  cdnUrl: string;
  publicUrl: string;
  /** How a CDN is told of deletions; null where none keeps files. */
  purge: string | null;
}

/** Where files are served: at the project's own domain, or the installation's. */
export function CdnDomain() {
  const { api, isOwner } = useWorkspace();
  const loaded = useLoad<DeliverySettings>(`${api}/delivery-settings`);
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  const { ownUrl, cdnUrl } = loaded.data;
  return (
    <>
      <h2>CDN domain</h2>
      <Facts settings={loaded.data} />
      <p className="line">
        <CopyButton text={ownUrl ?? cdnUrl} label="Copy base URL" />
      </p>
      {!isOwner ? (
        <p className="dim">The project owner can set a custom domain.</p>
      ) : ownUrl === null ? (
        <NewDomain cdnUrl={cdnUrl} onSaved={loaded.reload} />
      ) : (
        <OwnDomain key={ownUrl} onRemoved={loaded.reload} />
      )}
      <p className="dim below">
        <a href="/docs/delivery">Set up a CDN</a>
      </p>
    </>
  );
}

function Facts({ settings: { ownUrl, cdnUrl, publicUrl, purge } }: { settings: DeliverySettings }) {
  const others = cdnUrl === publicUrl ? "This service" : "The installation’s domain";
  return (
    <dl>
      <dt>Base URL</dt>
      <dd className="mono">{ownUrl ?? cdnUrl}/f/…</dd>
      <dt>Served by</dt>
      <dd>{ownUrl === null ? others : "This project’s domain"}</dd>
      {ownUrl !== null && (
        <>
          <dt>Also at</dt>
          <dd className="mono">{cdnUrl}/f/…</dd>
        </>
      )}
      <dt>Caching</dt>
      <dd>
        {purge === null || ownUrl !== null
          ? "Shared caches revalidate every request; deletions take effect immediately"
          : `Shared caches keep files and are purged through ${purge}`}
      </dd>
    </dl>
  );
}

function NewDomain({ cdnUrl, onSaved }: { cdnUrl: string; onSaved: () => void }) {
  const { project } = useWorkspace();
  const [domain, setDomain] = useState("");
  const save = async () => {
    await callApi("PUT", `/projects/${project.id}/cdn-domain`, { domain });
    onSaved();
  };
  return (
    <section>
      <h3>Custom domain</h3>
      <p className="dim">
        Point a CDN, or a CNAME record for your domain, at <code>{new URL(cdnUrl).host}</code>. Your domain
        needs a TLS certificate. New URLs of this project’s files and variants then use it; existing URLs keep
        working.
      </p>
      <Form className="stack narrow" submit="Check and save" busy="Checking the domain…" onSubmit={save}>
        <Field
          label="Domain"
          placeholder="files.example.com"
          autoComplete="off"
          spellCheck={false}
          maxLength={2048}
          value={domain}
          onChange={setDomain}
        />
      </Form>
    </section>
  );
}

function OwnDomain({ onRemoved }: { onRemoved: () => void }) {
  const { project } = useWorkspace();
  const [state, setState] = useState<{ problem: string | null } | null>(null);
  const { error, isBusy, run } = useAction();
  const path = `/projects/${project.id}/cdn-domain`;
  const check = () =>
    run(async () => {
      setState(null);
      setState(await callApi<{ problem: string | null }>("POST", `${path}/check`));
    });
  const remove = () =>
    run(async () => {
      await callApi("DELETE", path);
      onRemoved();
    });
  return (
    <>
      <p role="status" className={state !== null && state.problem !== null ? "notice bad" : undefined}>
        {state !== null && (state.problem ?? "The domain works and points to this service.")}
      </p>
      {error !== null && <Failure error={error} />}
      <p className="line">
        <button type="button" disabled={isBusy} onClick={() => void check()}>
          Check
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void remove()}>
          Stop using it
        </button>
      </p>
      <p className="dim">
        URLs will start with the installation’s domain again. Keep the DNS record as long as URLs with the
        custom domain are in use.
      </p>
    </>
  );
}

import { useState } from "react";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

interface DeliverySettings {
  cdnUrl: string;
  publicUrl: string;
  /** How a CDN is told of deletions; null where none keeps files. */
  purge: string | null;
}

/** Where files are served. It is one address for the whole installation, so it is shown and tried, not changed. */
export function CdnDomain() {
  const { api } = useWorkspace();
  const loaded = useLoad<DeliverySettings>(`${api}/delivery-settings`);
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  const { cdnUrl, publicUrl, purge } = loaded.data;
  return (
    <>
      <h2>CDN domain</h2>
      <dl>
        <dt>Files are served at</dt>
        <dd className="mono">{cdnUrl}/f/…</dd>
        <dt>By</dt>
        <dd>{cdnUrl === publicUrl ? "this service itself" : "a domain in front of this service"}</dd>
        <dt>Shared caches</dt>
        <dd>
          {purge === null
            ? "ask again for every file, so a deletion holds at once"
            : `keep files, and hear of deletions through ${purge}`}
        </dd>
      </dl>
      <p className="line">
        <CopyButton text={cdnUrl} label="Copy address" />
        <Check cdnUrl={cdnUrl} />
      </p>
      <p className="dim">
        The operator sets it for the whole installation, with <code>UPSTOW_CDN_URL</code>, and what tells the
        CDN of deletions with <code>UPSTOW_CDN_PURGE</code>.{" "}
        <a href="/docs/delivery">How to put a CDN in front</a>
      </p>
    </>
  );
}

/** From this browser, as readers come: a file that cannot exist has to be refused in the service's own words. */
function Check({ cdnUrl }: { cdnUrl: string }) {
  const [isGood, setGood] = useState(false);
  const { error, isBusy, run } = useAction();
  const check = () =>
    run(async () => {
      setGood(false);
      const response = await fetch(`${cdnUrl}/f/is-it-there`, {
        credentials: "omit",
        cache: "no-store",
      }).catch(() => null);
      if (response === null) throw new Error("The address cannot be reached from this browser.");
      const answer: unknown = await response.json().catch(() => null);
      const code = (answer as { error?: { code?: string } } | null)?.error?.code;
      if (code !== "NOT_FOUND") throw new Error("Something else than this service answers at the address.");
      setGood(true);
    });
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void check()}>
        Check
      </button>
      <span role="status">{isGood && "It answers, and this service is behind it."}</span>
      {error !== null && <Failure error={error} />}
    </>
  );
}

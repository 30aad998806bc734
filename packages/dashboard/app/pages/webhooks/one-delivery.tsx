import type { DeliveryDetail } from "@upstow/contract";
import { useEffect, useRef, useState } from "react";
import { callApi } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { DeliveryView } from "../../parts/delivery-view.tsx";
import { shellQuote } from "../../parts/shell-quote.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export function OneDelivery({ id, onChanged }: { id: string; onChanged: () => void }) {
  const { api, mayChange } = useWorkspace();
  const path = `${api}/webhooks/deliveries/${id}`;
  const loaded = useLoad<{ delivery: DeliveryDetail }>(path);
  const [curl, setCurl] = useState<string | null>(null);
  const { error, isBusy, run } = useAction();
  const curlHead = useRef<HTMLHeadingElement>(null);
  // It is below what the window shows.
  useEffect(() => {
    if (curl !== null) curlHead.current?.scrollIntoView();
  }, [curl]);
  const redeliver = () =>
    run(async () => {
      await callApi("POST", `${path}/redeliver`);
      loaded.reload();
      onChanged();
    });
  const sign = () => run(async () => setCurl(toCurl(await callApi<SignedRequest>("POST", `${path}/sign`))));
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  return (
    <>
      <DeliveryView delivery={loaded.data.delivery} />
      {curl !== null && (
        <>
          <h3 ref={curlHead}>As curl</h3>
          <p className="dim">Signed just now. Endpoints accept it for five minutes.</p>
          <CodeBlock label="curl" code={curl} />
        </>
      )}
      {error !== null && <Failure error={error} />}
      <footer>
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
        {mayChange && (
          <>
            <button type="button" disabled={isBusy} onClick={() => void sign()}>
              Show as curl
            </button>
            <button type="button" className="primary" disabled={isBusy} onClick={() => void redeliver()}>
              Resend
            </button>
          </>
        )}
      </footer>
    </>
  );
}

function toCurl({ url, headers, body }: SignedRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `  -H ${shellQuote(`${name}: ${value}`)}`);
  return [`curl -X POST ${shellQuote(url)}`, ...lines, `  --data-raw ${shellQuote(body)}`].join(" \\\n");
}

import type { Delivery, DeliveryDetail } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo } from "../../format.ts";
import { useLoad, usePages } from "../../load.ts";
import { DeliveryView } from "../../parts/delivery-view.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState, Loading } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

export default function Webhooks() {
  const { api } = useWorkspace();
  const [status, setStatus] = useState("");
  const [open, setOpen] = useState<string | null>(null);
  const query = status === "" ? "" : `?status=${status}`;
  const list = usePages<Delivery, "deliveries">(`${api}/webhooks/deliveries${query}`, "deliveries");
  return (
    <>
      <h1>Webhooks</h1>
      <search className="filters">
        <select aria-label="Status" value={status} onChange={(event) => setStatus(event.target.value)}>
          <option value="">Any status</option>
          {["pending", "delivered", "dead"].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </search>
      <ListState
        list={list}
        empty={
          <Empty title="No deliveries">
            <p>Give a file route a webhook URL, and every finished upload is announced to it.</p>
          </Empty>
        }
      >
        <ul className="rows">
          {list.items.map((delivery) => (
            <li key={delivery.id}>
              <span className="grow">
                <button type="button" className="link" onClick={() => setOpen(delivery.id)}>
                  {delivery.event} · <SafeText text={delivery.routeSlug} />
                </button>
                <span className="dim url">
                  <SafeText text={delivery.url} />
                </span>
              </span>
              <span className={`tag ${delivery.status}`}>{delivery.status}</span>
              <span className="dim">
                {delivery.attemptCount === 1 ? "1 attempt" : `${delivery.attemptCount} attempts`}
              </span>
              <span className="dim">{formatAgo(delivery.createdAt)}</span>
            </li>
          ))}
        </ul>
        <MoreButton list={list} />
      </ListState>
      {open !== null && (
        <Dialog title="Delivery" wide onClose={() => setOpen(null)}>
          <OneDelivery id={open} onChanged={list.reload} />
        </Dialog>
      )}
    </>
  );
}

function OneDelivery({ id, onChanged }: { id: string; onChanged: () => void }) {
  const { api, mayChange } = useWorkspace();
  const path = `${api}/webhooks/deliveries/${id}`;
  const loaded = useLoad<{ delivery: DeliveryDetail }>(path);
  const { error, isBusy, run } = useAction();
  const redeliver = () =>
    run(async () => {
      await callApi("POST", `${path}/redeliver`);
      loaded.reload();
      onChanged();
    });
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  if (loaded.data === null) return <Loading />;
  return (
    <>
      <DeliveryView delivery={loaded.data.delivery} />
      {error !== null && <Failure error={error} />}
      <footer>
        <button type="button" onClick={loaded.reload}>
          Refresh
        </button>
        {mayChange && (
          <button type="button" className="primary" disabled={isBusy} onClick={() => void redeliver()}>
            Deliver again
          </button>
        )}
      </footer>
    </>
  );
}

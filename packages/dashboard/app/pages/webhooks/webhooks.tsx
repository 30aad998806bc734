import type { Delivery, RedeliverResult, Router } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo, formatMany, formatTime } from "../../format.ts";
import { useLoad, usePages } from "../../load.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { deliveryLabels, outcomeOf } from "../../parts/failure-reason.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useSettled } from "../../parts/use-settled.ts";
import { Link, useQuery } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { noFilter, toServerFilter } from "./delivery-filter.ts";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { EndpointList } from "./endpoints.tsx";
import { OneDelivery } from "./one-delivery.tsx";
import { RedeliverMany } from "./redeliver-many.tsx";

/** The limit of one call. */
const mostChosen = 100;

/** A delivery with its file's name and what came back last. */
interface DeliveryRow extends Delivery {
  fileName: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number | null;
}

export default function Webhooks() {
  const { api, liveApi, project, mayChange, urlOf } = useWorkspace();
  const address = useQuery();
  const [filter, setFilter] = useState(() => ({
    ...noFilter,
    text: address.get("text") ?? "",
    status: address.get("status") ?? "",
  }));
  const [open, setOpen] = useState<string | null>(null);
  const [isMany, setMany] = useState(false);
  const [chosen, setChosen] = useState<string[]>([]);
  const routes = useLoad<{ routers: Router[] }>(`${liveApi}/projects/${project.id}/routers`);
  const text = useSettled(filter.text);
  const query = new URLSearchParams(toServerFilter({ ...filter, text })).toString();
  const list = usePages<DeliveryRow, "deliveries">(`${api}/webhooks/rows?${query}`, "deliveries");
  const hasNone = query === "" && list.items.length === 0 && list.error === null && !list.isLoading;
  const { error, isBusy, run } = useAction();
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  // A selection under another filter would be out of sight.
  const narrow = (next: typeof filter) => {
    setFilter(next);
    setChosen([]);
  };
  const redeliver = () =>
    run(async () => {
      await callApi<RedeliverResult>("POST", `${api}/webhooks/deliveries/redeliver`, { ids: chosen });
      setChosen([]);
      list.reload();
    });
  return (
    <>
      <div className="title">
        <h1>Webhooks</h1>
        <span className="line">
          <button type="button" onClick={list.reload}>
            Refresh
          </button>
          {mayChange && !hasNone && (
            <button type="button" onClick={() => setMany(true)}>
              Bulk resend
            </button>
          )}
        </span>
      </div>
      <EndpointList
        routes={routes.data?.routers ?? []}
        selected={filter.url}
        onSelect={(url) => narrow({ ...filter, url })}
      />
      <h2>Deliveries</h2>
      <DeliveryFilters filter={filter} routes={routes.data?.routers ?? []} onChange={narrow} />
      {error !== null && <Failure error={error} />}
      {chosen.length > 0 && (
        <div className="chosen dock" role="status">
          <span className="count">{chosen.length} selected</span>
          <button
            type="button"
            className="primary"
            disabled={isBusy || chosen.length > mostChosen}
            onClick={() => void redeliver()}
          >
            Resend {chosen.length}
          </button>
          <button type="button" onClick={() => setChosen([])}>
            Clear selection
          </button>
          {chosen.length > mostChosen && ` At most ${mostChosen} at once. Use “Bulk resend” for more.`}
        </div>
      )}
      <ListState
        list={list}
        empty={
          query === "" ? (
            <Empty title="No deliveries">
              <p>
                Set a webhook URL on a <Link to={urlOf("routes")}>file route</Link>. Upstow calls it after
                every completed upload.
              </p>
            </Empty>
          ) : (
            <Empty title="No matching deliveries" />
          )
        }
      >
        <ul className="rows deliveries" aria-label="Deliveries">
          {list.items.map((delivery) => (
            <li key={delivery.id} className={chosen.includes(delivery.id) ? "selected" : undefined}>
              {mayChange && (
                <input
                  type="checkbox"
                  aria-label={`Select the delivery of ${showHidden(delivery.fileName)}, ${formatTime(delivery.createdAt)}`}
                  checked={chosen.includes(delivery.id)}
                  onChange={() => toggle(delivery.id)}
                />
              )}
              <Outcome delivery={delivery} />
              <span className="grow">
                <button type="button" className="link name" onClick={() => setOpen(delivery.id)}>
                  <SafeText text={delivery.fileName} />
                </button>
                <span className="dim url">
                  {delivery.event} · <SafeText text={delivery.routeSlug} /> · <SafeText text={delivery.url} />
                </span>
              </span>
              <span className={`tag state ${delivery.status}`}>{deliveryLabels[delivery.status]}</span>
              <span className="dim aside">{formatMany(delivery.attemptCount, "attempt")}</span>
              <span className="dim ago" title={formatTime(delivery.createdAt)}>
                {formatAgo(delivery.createdAt)}
              </span>
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
      {isMany && (
        <RedeliverMany routeSlug={filter.routeSlug} onClose={() => setMany(false)} onDone={list.reload} />
      )}
    </>
  );
}

function Outcome({ delivery }: { delivery: DeliveryRow }) {
  const isUntried = delivery.attemptCount === 0;
  const look = isUntried ? "" : delivery.error === null ? "good" : "bad";
  return <span className={`tag outcome ${look}`}>{isUntried ? "Queued" : outcomeOf(delivery)}</span>;
}

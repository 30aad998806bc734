import type { Delivery, RedeliverResult, Router } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatAgo, formatTime } from "../../format.ts";
import { useLoad, usePages } from "../../load.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, Failure, ListState } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { noFilter, toServerFilter } from "./delivery-filter.ts";
import { DeliveryFilters } from "./delivery-filters.tsx";
import { OneDelivery } from "./one-delivery.tsx";
import { RedeliverMany } from "./redeliver-many.tsx";

/** As many as one call takes. */
const mostChosen = 100;

export default function Webhooks() {
  const { api, liveApi, project, environment, mayChange } = useWorkspace();
  const [filter, setFilter] = useState(noFilter);
  const [open, setOpen] = useState<string | null>(null);
  const [isMany, setMany] = useState(false);
  const [chosen, setChosen] = useState<string[]>([]);
  const routes = useLoad<{ routers: Router[] }>(`${liveApi}/projects/${project.id}/routers`);
  const query = new URLSearchParams(toServerFilter(filter)).toString();
  const list = usePages<Delivery, "deliveries">(`${api}/webhooks/deliveries?${query}`, "deliveries");
  const { error, isBusy, run } = useAction();
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  // What was chosen before is out of sight.
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
          {mayChange && (
            <button type="button" onClick={() => setMany(true)}>
              Send many again
            </button>
          )}
        </span>
      </div>
      <DeliveryFilters filter={filter} routes={routes.data?.routers ?? []} onChange={narrow} />
      {error !== null && <Failure error={error} />}
      {chosen.length > 0 && (
        <p className="chosen" role="status">
          {chosen.length} chosen
          <button
            type="button"
            className="primary"
            disabled={isBusy || chosen.length > mostChosen}
            onClick={() => void redeliver()}
          >
            Deliver {chosen.length} again
          </button>
          {chosen.length > mostChosen &&
            ` At most ${mostChosen} at once; for more there is "Send many again".`}
        </p>
      )}
      <ListState
        list={list}
        empty={
          query === "" ? (
            <Empty title="No deliveries">
              <p>
                Give a <Link to={`/p/${project.id}/${environment}/routes`}>file route</Link> a webhook URL,
                and every finished upload is announced to it.
              </p>
            </Empty>
          ) : (
            <Empty title="Nothing matches" />
          )
        }
      >
        <ul className="rows">
          {list.items.map((delivery) => (
            <li key={delivery.id}>
              {mayChange && (
                <input
                  type="checkbox"
                  aria-label={`Choose the delivery to ${showHidden(delivery.url)} of ${formatTime(delivery.createdAt)}`}
                  checked={chosen.includes(delivery.id)}
                  onChange={() => toggle(delivery.id)}
                />
              )}
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
              <span className="dim" title={formatTime(delivery.createdAt)}>
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

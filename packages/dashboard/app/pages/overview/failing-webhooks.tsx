import type { Delivery } from "@upstow/contract";
import { formatAgo } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

/** Only there when something is wrong: what no retry could deliver. */
export function FailingWebhooks() {
  const { api, urlOf } = useWorkspace();
  const path = `${api}/webhooks/rows?status=dead&limit=5`;
  const { data, error, reload } = useLoad<{ deliveries: (Delivery & { fileName: string })[] }>(path);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (data === null || data.deliveries.length === 0) return null;
  return (
    <section className="notice bad" aria-labelledby="failing">
      <h2 id="failing">Failed webhooks</h2>
      <ul className="plain">
        {data.deliveries.map((delivery) => (
          <li key={delivery.id}>
            <SafeText text={delivery.fileName} /> → <SafeText text={delivery.url} />{" "}
            <span className="dim">{formatAgo(delivery.createdAt)}</span>
          </li>
        ))}
      </ul>
      <p>
        <Link to={`${urlOf("webhooks")}?status=dead`}>See why and resend</Link>
      </p>
    </section>
  );
}

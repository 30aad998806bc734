import type { Delivery } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { circleAlertIcon } from "@upstow/kit/icons";
import { formatAgo, formatTime } from "../../format.ts";
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
    <section className="failing" aria-labelledby="failing">
      <header>
        <Icon of={circleAlertIcon} />
        <h2 id="failing">Failed webhooks</h2>
        <Link to={`${urlOf("webhooks")}?status=dead`}>View and resend</Link>
      </header>
      <ul className="rows">
        {data.deliveries.map((delivery) => (
          <li key={delivery.id}>
            <span className="grow">
              <span className="name">
                <Link to={`${urlOf("webhooks")}?status=dead&text=${delivery.fileId}`}>
                  <SafeText text={delivery.fileName} />
                </Link>
              </span>
              <span className="dim url">
                <SafeText text={delivery.url} />
              </span>
            </span>
            <time className="dim" dateTime={delivery.createdAt} title={formatTime(delivery.createdAt)}>
              {formatAgo(delivery.createdAt)}
            </time>
          </li>
        ))}
      </ul>
    </section>
  );
}

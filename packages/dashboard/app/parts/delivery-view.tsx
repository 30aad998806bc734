import type { DeliveryAttempt, DeliveryDetail } from "@upstow/contract";
import { formatTime } from "../format.ts";
import { Link } from "../router.tsx";
import { useWorkspace } from "../workspace.ts";
import { deliveryLabels, outcomeOf, reasonOf } from "./failure-reason.ts";
import { SafeJson, SafeText, showHidden } from "./safe-text.tsx";

/** Request and response, side by side if there is room. */
export function DeliveryView({ delivery }: { delivery: DeliveryDetail }) {
  const { urlOf } = useWorkspace();
  const last = delivery.attempts.at(-1);
  const { file } = delivery.payload;
  return (
    <>
      {delivery.status !== "delivered" && last !== undefined && last.error !== null && (
        <p className="notice bad">{reasonOf(last)}</p>
      )}
      <dl>
        <dt>Status</dt>
        <dd>
          <span className={`tag ${delivery.status}`}>{deliveryLabels[delivery.status]}</span>
        </dd>
        <dt>File</dt>
        <dd>
          {delivery.event === "test" ? (
            <SafeText text={file.name} />
          ) : (
            <Link to={urlOf(`files/${delivery.fileId}`)}>
              <SafeText text={file.name} />
            </Link>
          )}
        </dd>
        <dt>Event</dt>
        <dd>{delivery.event}</dd>
        <dt>Route</dt>
        <dd>
          <SafeText text={delivery.routeSlug} />
        </dd>
        <dt>URL</dt>
        <dd>
          <SafeText text={delivery.url} />
        </dd>
        <dt>Message ID</dt>
        <dd className="mono">{delivery.messageId}</dd>
        <dt>Created</dt>
        <dd>{formatTime(delivery.createdAt)}</dd>
        {delivery.nextAttemptAt !== null && (
          <>
            <dt>Next attempt</dt>
            <dd>{formatTime(delivery.nextAttemptAt)}</dd>
          </>
        )}
      </dl>
      <div className="panes">
        <section aria-label="Responses">
          <h3>Response</h3>
          {delivery.attempts.length === 0 && <p className="dim">No attempts yet.</p>}
          {delivery.attempts.toReversed().map((attempt) => (
            <AttemptView key={attempt.number} attempt={attempt} isLast={attempt === last} />
          ))}
        </section>
        <section aria-label="Request">
          <h3>Request body</h3>
          <SafeJson value={delivery.payload} />
        </section>
      </div>
    </>
  );
}

function AttemptView({ attempt, isLast }: { attempt: DeliveryAttempt; isLast: boolean }) {
  const { number, error, durationMs, response, statusCode } = attempt;
  return (
    <details className="attempt" open={isLast}>
      <summary>
        <span className={`tag ${error === null ? "good" : "bad"}`}>{outcomeOf(attempt)}</span> Attempt{" "}
        {number}
        <span className="dim">
          {durationMs !== null && ` · ${durationMs} ms`} ·{" "}
          <span className="moment">{formatTime(attempt.at)}</span>
        </span>
      </summary>
      {error !== null && <p>{reasonOf(attempt)}</p>}
      {response === null || response === "" ? (
        statusCode !== null && <p className="dim">Empty response body.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long text scrolls, and has to scroll by keyboard
        <pre className="code" tabIndex={0}>
          {response.split(/\r?\n/).map(showHidden).join("\n")}
        </pre>
      )}
    </details>
  );
}

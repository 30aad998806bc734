import type { RedeliverResult } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatCount, formatMany } from "../../format.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { lastMoment, toMoment } from "../../parts/moment.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";
import { statuses } from "./delivery-filter.ts";

interface RedeliverProps {
  routeSlug: string;
  onClose: () => void;
  onDone: () => void;
}

/** Holds for the choice that was counted: what is chosen in the meantime is counted anew. */
interface Answer {
  question: string;
  counted: number;
  queued?: number;
}

/** First how many they are, then all of them: a receiver that was down gets what it missed. */
export function RedeliverMany({ routeSlug, onClose, onDone }: RedeliverProps) {
  const { api } = useWorkspace();
  const [status, setStatus] = useState("dead");
  const [since, setSince] = useState(() => toLocal(new Date(Date.now() - 24 * 3600 * 1000)));
  const [answer, setAnswer] = useState<Answer | null>(null);
  const { error, isBusy, run } = useAction();
  const moment = toMoment(new Date(since));
  const filter = {
    ...(status === "" ? {} : { status }),
    ...(moment === "" ? {} : { since: moment }),
    ...(routeSlug === "" ? {} : { routeSlug }),
  };
  const question = JSON.stringify(filter);
  const { counted = null, queued = null } = answer?.question === question ? answer : {};
  const ask = (dryRun: boolean) =>
    callApi<RedeliverResult>("POST", `${api}/webhooks/deliveries/redeliver`, { filter, dryRun });
  const act = () =>
    run(async () => {
      if (counted === null) return setAnswer({ question, counted: (await ask(true)).matched });
      setAnswer({ question, counted, queued: (await ask(false)).queued });
      onDone();
    });
  const label = counted === null ? "Count them" : `Send ${formatCount(counted)} again`;
  return (
    <Dialog title="Send many again" onClose={onClose}>
      <div className="stack">
        <label>
          Status
          <select value={status} onChange={(event) => setStatus(event.target.value)}>
            <option value="">any</option>
            {statuses.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Created since
          <input
            type="datetime-local"
            max={lastMoment}
            value={since}
            onChange={(event) => setSince(event.target.value)}
          />
        </label>
        {routeSlug !== "" && <p className="dim">Only of the route that the list is filtered by.</p>}
        {error !== null && <Failure error={error} />}
        <p role="status">
          {counted !== null && queued === null && `${formatMany(counted, "matches", "match")}.`}
          {queued !== null && `${formatMany(queued, "is on its way", "are on their way")}.`}
        </p>
        {queued === null && (
          <button
            type="button"
            className="primary"
            disabled={isBusy || counted === 0}
            onClick={() => void act()}
          >
            {label}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function toLocal(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

import type { RedeliverResult } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatCount, formatMany } from "../../format.ts";
import { Choice } from "../../parts/choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { lastMoment, toMoment } from "../../parts/moment.ts";
import { useWorkspace } from "../../workspace.ts";
import { statuses } from "./delivery-filter.ts";

interface RedeliverProps {
  routeSlug: string;
  onClose: () => void;
  onDone: () => void;
}

/** Valid for the filter that was counted: another one is counted again. */
interface Answer {
  question: string;
  counted: number;
  queued?: number;
}

/** First the count, then all of them: an endpoint that was down gets what it missed. */
export function RedeliverMany({ routeSlug, onClose, onDone }: RedeliverProps) {
  const { api } = useWorkspace();
  const [status, setStatus] = useState("dead");
  const [since, setSince] = useState(() => toLocal(new Date(Date.now() - 24 * 3600 * 1000)));
  const [answer, setAnswer] = useState<Answer | null>(null);
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
  const act = async () => {
    if (counted === null) return setAnswer({ question, counted: (await ask(true)).matched });
    setAnswer({ question, counted, queued: (await ask(false)).queued });
    onDone();
  };
  const label = counted === null ? "Preview matches" : `Resend ${formatCount(counted)}`;
  return (
    <Dialog title="Bulk resend" onClose={onClose}>
      <Form submit={label} isIncomplete={counted === 0 || queued !== null} onSubmit={act}>
        <Choice label="Status" any="Any status" options={statuses} value={status} onChange={setStatus} />
        <label>
          Created since
          <input
            type="datetime-local"
            max={lastMoment}
            value={since}
            onChange={(event) => setSince(event.target.value)}
          />
        </label>
        {routeSlug !== "" && <p className="dim">Only deliveries of the filtered route.</p>}
        <p role="status">
          {counted !== null &&
            queued === null &&
            `${formatMany(counted, "delivery matches", "deliveries match")}.`}
          {queued !== null && `${formatMany(queued, "delivery", "deliveries")} queued.`}
        </p>
      </Form>
    </Dialog>
  );
}

function toLocal(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

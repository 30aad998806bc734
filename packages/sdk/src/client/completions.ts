import { UpstowError } from "../errors.ts";
import type { CompleteAnswer } from "../handler/protocol.ts";
import { mayPass, pauseFor } from "../http/call.ts";
import { wait } from "../http/wait.ts";
import { countFitting, createGatherer } from "../transfer/gather.ts";
import type { PutPolicy } from "../transfer/put-with-retries.ts";
import type { Backend } from "./backend.ts";
import { type Hold, share } from "./hold.ts";

/** Handlers accept bodies of up to 1 MB. */
const weightPerCall = 900 * 1024;

interface Sent {
  token: string;
  hold: Hold;
}

/** Completes uploads of small files; those that finish at about the same time share a call. */
export function createCompletions(backend: Backend, policy: PutPolicy, isMoreComing: () => boolean) {
  const gatherer = createGatherer<Sent, CompleteAnswer | UpstowError>({
    fits: (items) =>
      countFitting(
        items.map(({ token }) => ({ bytes: 0, weight: token.length })),
        weightPerCall,
      ),
    isMoreComing,
    firstMs: 2_000,
    longestMs: 4_000,
    send(items) {
      let sent: Sent[] = [];
      const listTokens = () => {
        sent = items.filter(({ hold }) => !hold.signal.aborted);
        return sent.map(({ token }) => token);
      };
      const join = share((hold) => backend.completeMany(listTokens, hold));
      return items.map(async (item) => {
        const answer = (await join(item.hold))[sent.indexOf(item)];
        if (answer === undefined) throw item.hold.signal.reason;
        return "refusal" in answer ? new UpstowError(answer.refusal.message, answer.refusal) : answer;
      });
    },
  });

  return {
    look: gatherer.look,
    /** A temporary error of one file is retried for that file alone. */
    async complete(token: string, hold: Hold): Promise<CompleteAnswer> {
      for (let attempt = 0; ; attempt++) {
        const answer = await gatherer.add({ token, hold });
        if (!(answer instanceof UpstowError)) return answer;
        const isLimited = answer.code === "RATE_LIMITED";
        if (!isLimited && (!mayPass(answer) || attempt >= policy.retries)) throw answer;
        const pauseMs = pauseFor(answer, attempt, policy.baseDelayMs);
        if (isLimited) hold.onWait(Date.now() + pauseMs);
        await wait(pauseMs, hold.signal).finally(() => hold.onWait(null));
      }
    },
  };
}

import { UpstowError } from "../errors.ts";
import type { BeginAnswer, ManyAnswer, StartAnswer } from "../handler/protocol.ts";
import type { Backend } from "./backend.ts";
import { type Hold, share } from "./hold.ts";

/** Whether the file at this place still wants to be uploaded. */
export type IsWanted = (index: number) => boolean;

/** The backend's permission to upload one file. */
export interface Permit {
  /** It opens one upload. */
  open(resume: string | undefined, hold: Hold): Promise<StartAnswer>;
  /** The same upload with a fresh URL. */
  renew(token: string, hold: Hold): Promise<StartAnswer>;
  /** The upload may be completed in one call with others. */
  canComplete: "alone" | "together";
}

/** Files that are announced to the backend together. */
export interface Batch {
  /** All permits are asked for together, once, when the first file begins. */
  getPermit(index: number, hold: Hold): Promise<Permit>;
}

type Starts = ManyAnswer<StartAnswer>["answers"];

/** Who renews one URL of a group renews all, and others whose URLs expired with it use that. */
const renewedForMs = 60_000;

/** `of` is how many files were added together, where they are too many for one batch. */
export function createBatch(
  backend: Backend,
  route: string,
  input: unknown,
  files: File[],
  isWanted: IsWanted,
  of = files.length,
): Batch {
  const groups = new Map<number, Group>();
  let join: ReturnType<typeof share<BeginAnswer>> | null = null;
  const infos = files.map(({ name, size, type }) => ({
    name,
    size,
    type: type || "application/octet-stream",
  }));

  const begin = (hold: Hold) =>
    backend.begin({ route, input, files: infos, of, groups: true }, hold).catch((error) => {
      // All who needed it have left during a wait: who comes back asks again.
      if (hold.signal.aborted) join = null;
      throw error;
    });

  function getGroup({ tickets, groups: all = [] }: BeginAnswer, number: number): Group {
    const known = groups.get(number);
    if (known !== undefined) return known;
    const listWanted = () => tickets.filter((_, i) => all[i] === number && isWanted(i));
    const group = createGroup(backend, listWanted);
    groups.set(number, group);
    return group;
  }

  return {
    async getPermit(index, hold) {
      join ??= share(begin);
      const answer = await join(hold);
      const refusal = answer.refusals?.find((item) => item.index === index);
      if (refusal !== undefined) throw new UpstowError(refusal.message, refusal);
      const ticket = answer.tickets[index] ?? "";
      const number = answer.groups?.[index] ?? null;
      if (number !== null) {
        const group = getGroup(answer, number);
        return {
          open: (_, held) => group.open(ticket, held),
          renew: (_, held) => group.renew(ticket, held),
          canComplete: "together",
        };
      }
      const start = backend.start.bind(null, ticket);
      // A handler of an earlier version knows nothing of groups.
      return { open: start, renew: start, canComplete: answer.groups === undefined ? "alone" : "together" };
    },
  };
}

type Group = ReturnType<typeof createGroup>;

/** Small files whose uploads are opened in one call, all at the turn of the first. */
function createGroup(backend: Backend, listWanted: () => string[]) {
  /** What was asked for: the backend opens a group once, so a repetition names the same files. */
  let sent: string[] = [];
  let isFixed = false;
  let opening: ((hold: Hold) => Promise<Starts>) | null = null;
  let renewed: { join: (hold: Hold) => Promise<Starts>; atMs: number } | null = null;

  const list = () => {
    if (!isFixed) sent = listWanted();
    if (sent.length === 0) throw cancelled();
    return sent;
  };

  async function openAll(hold: Hold): Promise<Starts> {
    try {
      const starts = await backend.startMany(list, hold);
      isFixed = true;
      return starts;
    } catch (error) {
      opening = null;
      // It may have been heard, unless the limit kept it away.
      isFixed = !hold.signal.aborted && (error as UpstowError).code !== "RATE_LIMITED";
      throw error;
    }
  }

  function pick(starts: Starts, ticket: string): StartAnswer {
    const start = starts[sent.indexOf(ticket)];
    if (start === undefined) throw cancelled();
    if ("refusal" in start) throw new RefusedAlone(start.refusal.message, start.refusal);
    return start;
  }

  return {
    async open(ticket: string, hold: Hold): Promise<StartAnswer> {
      opening ??= share(openAll, () => listWanted().length > 0);
      return pick(await opening(hold), ticket);
    },
    async renew(ticket: string, hold: Hold): Promise<StartAnswer> {
      if (renewed === null || Date.now() - renewed.atMs > renewedForMs)
        renewed = { join: share((held) => backend.startMany(list, held)), atMs: Date.now() };
      const { join } = renewed;
      const starts = await join(hold).catch((error) => {
        renewed = null;
        throw error;
      });
      return pick(starts, ticket);
    },
  };
}

/** Of one file of a group, where others may have succeeded. */
export class RefusedAlone extends UpstowError {}

export const cancelled = () => new UpstowError("The upload was cancelled.", { code: "CANCELLED" });

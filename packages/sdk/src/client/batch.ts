import { UpstowError } from "../errors.ts";
import type { BeginAnswer, ManyAnswer, StartAnswer } from "../handler/protocol.ts";
import type { Backend } from "./backend.ts";
import { type Hold, share } from "./hold.ts";

/** Whether the file at this index is still to be uploaded. */
export type IsWanted = (index: number) => boolean;

/** The backend's permission to upload one file. */
export interface Permit {
  /** Opens one upload. */
  open(resume: string | undefined, hold: Hold): Promise<StartAnswer>;
  /** The same upload with a new URL. */
  renew(token: string, hold: Hold): Promise<StartAnswer>;
  /** Whether the upload may be completed together with others. */
  canComplete: "alone" | "together";
}

/** Files that are requested from the backend together. */
export interface Batch {
  /** All permits are requested together, once, when the first file starts. */
  getPermit(index: number, hold: Hold): Promise<Permit>;
}

type Starts = ManyAnswer<StartAnswer>["answers"];

/** Renewing one URL of a group renews all of them; other files whose URLs expired at the same time share the result. */
const renewedForMs = 60_000;

/** `of` is the number of files added together, if they exceed one batch. */
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
      // All files that needed it were removed during the wait; one that is resumed asks again.
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
      // Handlers of earlier versions do not support groups.
      return { open: start, renew: start, canComplete: answer.groups === undefined ? "alone" : "together" };
    },
  };
}

type Group = ReturnType<typeof createGroup>;

/** Small files whose uploads are opened in one call, when the first one's turn comes. */
function createGroup(backend: Backend, listWanted: () => string[]) {
  /** The files requested: the backend opens a group once, so a retry must list the same files. */
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
      // The backend may have processed it, unless the rate limit rejected it.
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

/** The error of one file in a group in which others may have succeeded. */
export class RefusedAlone extends UpstowError {}

export const cancelled = () => new UpstowError("The upload was cancelled.", { code: "CANCELLED" });

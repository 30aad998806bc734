import { UpstowError } from "../errors.ts";
import type { StartAnswer } from "../handler/protocol.ts";
import { mayPass } from "../http/call.ts";
import { countFitting } from "../transfer/gather.ts";
import type { Backend } from "./backend.ts";
import type { Entry } from "./entry.ts";
import { type Hold, share } from "./hold.ts";

/** Tickets are larger than what is asked of the service for them, and neither side takes more than 1 MB. */
export const weightPerCall = 700 * 1024;

/** The upload of one file that is being opened, or is open and waits for its turn. */
export type Opening = (hold: Hold) => Promise<StartAnswer>;

interface Member {
  entry: Entry;
  ticket: string;
  opening: Opening;
  join(group: Group): void;
}

/**
 * Opens uploads of small files, several in one call: those whose turn has come, and those that follow. `upcoming` are
 * the latter, with the tickets that are known.
 */
export function createStarts(backend: Backend, upcoming: () => { entry: Entry; ticket: string }[]) {
  const asked: Member[] = [];

  function addMember(entry: Entry, ticket: string): Member {
    let join: Member["join"] = () => {};
    const group = new Promise<Group>((resolve) => {
      join = resolve;
    });
    const member: Member = { entry, ticket, join, opening: async (hold) => (await group)(member, hold) };
    entry.opening = member.opening;
    return member;
  }

  function flush(): void {
    const followers = upcoming();
    while (asked.length > 0) {
      const facts = [...asked, ...followers].map(({ entry, ticket }) => ({
        bytes: entry.file.size,
        weight: ticket.length,
      }));
      const count = countFitting(facts, weightPerCall);
      const members = asked.splice(0, count);
      for (const { entry, ticket } of followers.splice(0, count - members.length))
        members.push(addMember(entry, ticket));
      const group = openTogether(members);
      for (const { join } of members) join(group);
    }
  }

  function openTogether(members: Member[]): Group {
    let sent: Member[] = [];
    const isWanted = ({ entry, opening }: Member) =>
      entry.opening === opening && entry.status !== "cancelled";
    const listTickets = () => {
      sent = members.filter(isWanted);
      if (sent.length === 0) throw cancelled();
      return sent.map(({ ticket }) => ticket);
    };
    /** Those whose turn comes later ask again by themselves. */
    const letGo = () => {
      for (const member of members)
        if (isWanted(member) && member.entry.run === null) member.entry.opening = null;
    };
    const join = share(
      (hold) => {
        const answers = backend.startMany(listTickets, hold);
        answers.catch(letGo);
        return answers;
      },
      () => members.some(isWanted),
    );
    return async (member, hold) => {
      const answer = (await join(hold))[sent.indexOf(member)];
      if (answer === undefined) throw cancelled();
      if (!("refusal" in answer)) return answer;
      const error = new UpstowError(answer.refusal.message, answer.refusal);
      // Nothing was opened for it: it may try alone.
      if (mayPass(error)) return backend.start(member.ticket, undefined, hold);
      throw error;
    };
  }

  return {
    open(entry: Entry, ticket: string, hold: Hold): Promise<StartAnswer> {
      if (entry.opening === null) {
        if (asked.push(addMember(entry, ticket)) === 1) setTimeout(flush);
      }
      return (entry.opening as Opening)(hold);
    },
  };
}

type Group = (member: Member, hold: Hold) => Promise<StartAnswer>;

export const cancelled = () => new UpstowError("The upload was cancelled.", { code: "CANCELLED" });

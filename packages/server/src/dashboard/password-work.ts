import { randomBytes } from "node:crypto";
import { AppError, invalid } from "../kernel/errors.ts";
import { hashPassword, type PasswordCost, verifyPassword } from "../kernel/security/passwords.ts";

const shortest = 10;
const longest = 200;
const mostWaiting = 20;

/** A flood of attempts must not lock out signed-in users or known devices. */
type Lane = "known" | "stranger";

export interface PasswordWork {
  /** For people who are signed in or hold a link. */
  hash(password: string): Promise<string>;
  /** Takes the same time if there is no hash to compare with. */
  verify(password: string, hash: string | null, lane?: Lane): Promise<boolean>;
}

/** One at a time: each needs 64 MiB, and a flood of sign-ins must not take memory from uploads. */
export function createPasswordWork(cost?: PasswordCost): PasswordWork {
  let decoy: Promise<string> | undefined;
  const waiting: Record<Lane, (() => Promise<void>)[]> = { known: [], stranger: [] };
  let isWorking = false;

  async function workOn(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    for (;;) {
      const next = waiting.known.shift() ?? waiting.stranger.shift();
      if (next === undefined) break;
      await next();
    }
    isWorking = false;
  }

  async function inTurn<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    if (waiting[lane].length >= mostWaiting) throw busy();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting[lane].push(() => work().then(resolve, reject));
    void workOn();
    return promise;
  }

  return {
    hash: (password) => inTurn("known", () => hashPassword(password, cost)),
    verify: (password, known, lane = "stranger") =>
      inTurn(lane, async () => {
        decoy ??= hashPassword(randomBytes(16).toString("hex"), cost);
        const comparison = await decoy;
        const isRight = await verifyPassword(password, known ?? comparison);
        return known !== null && isRight;
      }),
  };
}

export function checkNewPassword(password: string): void {
  const length = [...password].length;
  if (length < shortest || length > longest) {
    throw invalid("password", `must have ${shortest} to ${longest} characters`);
  }
}

function busy(): AppError {
  return new AppError("SERVICE_UNAVAILABLE", "Too many people are signing in right now.", {
    suggestion: "Try again in a few seconds.",
    headers: { "retry-after": "5" },
  });
}

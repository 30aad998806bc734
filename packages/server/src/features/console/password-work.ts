import { randomBytes } from "node:crypto";
import { AppError, invalid } from "../../errors.ts";
import { hashPassword, verifyPassword } from "../../security/passwords.ts";

const shortest = 10;
const longest = 200;
const mostWaiting = 20;

export interface PasswordWork {
  hash(password: string): Promise<string>;
  /** Takes the same time where there is no hash to compare with. */
  verify(password: string, hash: string | null): Promise<boolean>;
}

/** One at a time: each takes 64 MiB, and a flood of sign-ins must not take the memory of the uploads. */
export function createPasswordWork(): PasswordWork {
  let decoy: Promise<string> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= mostWaiting) throw busy();
    waiting++;
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn.finally(() => {
      waiting--;
    });
  }

  return {
    hash: (password) => inTurn(() => hashPassword(password)),
    verify: (password, known) =>
      inTurn(async () => {
        decoy ??= hashPassword(randomBytes(16).toString("hex"));
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

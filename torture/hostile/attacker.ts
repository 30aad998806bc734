import { setTimeout as wait } from "node:timers/promises";
import { type Answer, callApi } from "../../packages/server/test/support/start-app.ts";
import type { TenantAccess } from "./tenant.ts";

/** One tenant in action: calls with keys, calls of the dashboard, and a count of every answer. */
export interface Attacker extends TenantAccess {
  isOver(): boolean;
  count(what: string): void;
  api(method: string, path: string, body?: unknown, key?: string): Promise<Answer>;
  dashboard(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Repeats until the attack is over. A pause keeps the attack clever rather than loud: volume is not the point. */
  repeat(pauseMs: number, act: () => Promise<unknown>): Promise<void>;
}

export interface AttackReport {
  answers: Record<string, number>;
  /** Answers that are the service's own fault. */
  faults: string[];
}

export async function createAttacker(
  access: TenantAccess,
  isOver: () => boolean,
): Promise<Attacker & { report: AttackReport }> {
  const report: AttackReport = { answers: {}, faults: [] };
  const cookie = await signIn(access);

  function count(what: string): void {
    report.answers[what] = (report.answers[what] ?? 0) + 1;
  }

  async function call(method: string, path: string, headers: Record<string, string>, body?: unknown) {
    const answer = await callApi(access.url, method, path, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    count(`responses with ${answer.status}`);
    if (answer.status === 500)
      report.faults.push(
        `${method} ${path.slice(0, 100)} was answered with 500: ${JSON.stringify(answer.body)}`,
      );
    return answer;
  }

  return {
    ...access,
    isOver,
    report,
    count,
    api: (method, path, body, key = access.key) =>
      call(method, path, { authorization: `Bearer ${key}` }, body),
    dashboard: (method, path, body) =>
      call(method, `/dashboard/api${path}`, { origin: access.url, cookie }, body),
    async repeat(pauseMs, act) {
      while (!isOver()) {
        // A connection that the service cuts is what an attacker has to expect.
        await act().catch(() => count("connections closed"));
        await wait(pauseMs);
      }
    },
  };
}

async function signIn({ url, email, password }: TenantAccess): Promise<string> {
  const answer = await callApi(url, "POST", "/dashboard/api/sign-in", {
    headers: { origin: url },
    body: { email, password },
  });
  const [cookie = ""] = answer.headers.getSetCookie().filter((line) => line.includes("session"));
  if (answer.status !== 200) throw new Error(`the attacker cannot sign in: ${JSON.stringify(answer.body)}`);
  return cookie.split(";", 1)[0] ?? "";
}

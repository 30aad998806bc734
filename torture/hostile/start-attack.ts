import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AttackReport } from "./attacker.ts";
import type { TenantAccess } from "./tenant.ts";

/** Pro, because previews of images need a paid plan; a bucket takes up a project of its own. */
export const roles = ["free", "free with a bucket", "free, by other protocols", "pro"] as const;
export type Role = (typeof roles)[number];

export interface AttackOrder {
  tenants: { role: Role; access: TenantAccess }[];
  seconds: number;
}

export interface RunningAttack {
  reports(): AttackReport[];
  ended: Promise<void>;
  kill(): void;
}

export function startAttack(order: AttackOrder): RunningAttack {
  const child = fork(fileURLToPath(new URL("attack.ts", import.meta.url)), {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  // Attackers bring their own machines: here, what they compute comes after everything else.
  execFileSync("chrt", ["--all-tasks", "--idle", "--pid", "0", String(child.pid)]);
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  let reports: AttackReport[] = [];
  child.on("message", (latest) => {
    reports = latest as AttackReport[];
  });
  child.send(order);
  const ended = once(child, "exit").then(([code]) => {
    process.off("exit", kill);
    if (code !== 0) throw new Error(`the attack ended with ${code}`);
  });
  return { reports: () => reports, ended, kill };
}

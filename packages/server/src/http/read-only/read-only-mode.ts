import type { Deps } from "../../deps.ts";
import { findRelocation, listReasons } from "./queries.ts";

/** Whether the installation is being moved, as far as this process knows; the database itself always does. */
export interface ReadOnlyMode {
  isOn(): boolean;
  /** Asks the database again. */
  look(): Promise<void>;
}

export async function openReadOnlyMode({
  config,
  db,
  log,
}: Pick<Deps, "config" | "db" | "log">): Promise<ReadOnlyMode> {
  let isOn = false;
  /** On the disk that was left for a bucket; asked after the reasons, the last of which ends with the switch. */
  async function isLeftBehind(): Promise<boolean> {
    if (config.s3 !== null) return false;
    const storage = await db.recall(findRelocation, "storage", () => ({ name: "storage" as const }));
    return storage?.state === "switching" || storage?.state === "done";
  }
  async function look(): Promise<void> {
    const reasons = await db.recallAll(listReasons, "", () => ({}));
    const wasOn = isOn;
    isOn = reasons.length > 0 || (await isLeftBehind());
    if (isOn === wasOn) return;
    const moving = reasons.map(({ reason }) => reason);
    if (isOn) log.warn({ moving }, "the installation is being moved: it is read-only from now on");
    else log.info("the installation takes changes again");
  }
  await look();
  return { isOn: () => isOn, look };
}

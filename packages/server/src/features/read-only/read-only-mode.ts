import type { Deps } from "../../deps.ts";
import { listReasons } from "./queries.ts";

/** Whether the installation is being moved, as far as this process knows; the database itself always does. */
export interface ReadOnlyMode {
  isOn(): boolean;
  /** Asks the database again. */
  look(): Promise<void>;
}

export async function openReadOnlyMode({ db, log }: Pick<Deps, "db" | "log">): Promise<ReadOnlyMode> {
  let isOn = false;
  async function look(): Promise<void> {
    const reasons = await db.recallAll(listReasons, "", () => ({}));
    const wasOn = isOn;
    isOn = reasons.length > 0;
    if (isOn === wasOn) return;
    const moving = reasons.map(({ reason }) => reason);
    if (isOn) log.warn({ moving }, "the installation is being moved: it is read-only from now on");
    else log.info("the installation takes changes again");
  }
  await look();
  return { isOn: () => isOn, look };
}

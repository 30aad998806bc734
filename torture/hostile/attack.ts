// The attacking side, in a process of its own so that its own work does not delay what the victim measures.
import { createAttacker } from "./attacker.ts";
import {
  type Attack,
  churnProjects,
  crowdUploadUrl,
  multiplyKeys,
  pileUpRoutes,
  pushLimits,
  readNothing,
  renderBombs,
  searchPatterns,
} from "./attacks.ts";
import { lieAsBucket } from "./bucket-attack.ts";
import { appendCrumbs, fillForms, importForever, varyPublicImages } from "./protocol-attacks.ts";
import type { AttackOrder, Role } from "./start-attack.ts";

const reportEveryMs = 1_000;

const attacksByRole: Record<Role, Attack[]> = {
  free: [searchPatterns, pileUpRoutes, multiplyKeys, churnProjects, crowdUploadUrl, readNothing, pushLimits],
  "free with a bucket": [lieAsBucket],
  "free, by other protocols": [appendCrumbs, importForever, fillForms],
  pro: [renderBombs, varyPublicImages],
};

async function attack({ tenants, seconds }: AttackOrder): Promise<void> {
  const endsMs = Date.now() + seconds * 1_000;
  const attackers = await Promise.all(
    tenants.map(async ({ role, access }) => ({
      role,
      attacker: await createAttacker(access, () => Date.now() > endsMs),
    })),
  );
  const tell = () => process.send?.(attackers.map(({ attacker }) => attacker.report));
  const timer = setInterval(tell, reportEveryMs);
  await Promise.all(
    attackers.flatMap(({ role, attacker }) => attacksByRole[role].map((act) => act(attacker))),
  );
  clearInterval(timer);
  tell();
}

// What goes wrong here ends the process with its trace, and with it the run.
process.once("message", async (order: AttackOrder) => {
  await attack(order);
  process.disconnect();
});

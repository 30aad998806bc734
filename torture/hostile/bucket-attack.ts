import type { Attacker } from "./attacker.ts";

/** H1: a bucket that lies about everything. */
export async function lieAsBucket(_attacker: Attacker): Promise<void> {}

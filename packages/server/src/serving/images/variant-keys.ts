import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import type { Deps } from "../../deps.ts";
import { unlessReadOnly } from "../../http/read-only/read-only-error.ts";
import { listPublicKeys, savePublicKey } from "./queries.ts";
import { createVariantSigner, type VariantSigner } from "./variant-signature.ts";

const purpose = "public variant key";

/**
 * Public URLs never expire, so a key that signed one is kept for ever: in the database, sealed with the
 * installation's current secret, even after the secret it came from has left the configuration.
 */
export async function openVariantSigner({
  db,
  keyring,
}: Pick<Deps, "db" | "keyring">): Promise<VariantSigner> {
  const known = new Map<string, KeyObject>();
  for (const key of keyring.keysFor("public variant")) known.set(idOf(key), key);
  for (const { id, sealed } of await db.all(listPublicKeys, {})) {
    if (!known.has(id)) known.set(id, createSecretKey(keyring.decrypt(sealed, purpose), "base64url"));
  }
  // While the installation is read-only, an earlier start has kept them.
  const saved = db.transact(async (tx) => {
    for (const [id, key] of known) {
      await tx.run(savePublicKey, {
        id,
        sealed: keyring.encrypt(key.export().toString("base64url"), purpose),
      });
    }
  });
  await unlessReadOnly(saved);
  return createVariantSigner({
    signedSecrets: keyring.keysFor("signed variant"),
    publicSecrets: [...known.values()],
  });
}

function idOf(key: KeyObject): string {
  return createHash("sha256").update(key.export()).digest("hex").slice(0, 16);
}

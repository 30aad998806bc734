import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { addressGroup } from "../../kernel/net/cidr-list.ts";
import { isLoopbackAddress, isLoopbackHost } from "../../kernel/net/listen-address.ts";
import { actorColumns } from "../../projects/accounts/queries.ts";

/** Upload state of the welcome page for a visitor. */
export type Welcome = { state: "unclaimed" | "off" } | { state: "ready"; actor: Actor };

/** The visitor, as the connection and its headers describe them. */
export interface Visitor {
  address: string;
  /** The Host header, without a port. */
  hostname: string;
  /** Whether a proxy added forwarding headers, trusted or not. */
  isForwarded: boolean;
}

/** Visitors upload to the sandbox of the oldest project that the installation's owner has. */
export async function findWelcome(deps: Pick<Deps, "config" | "db">, visitor: Visitor): Promise<Welcome> {
  const found = await deps.db.get(findOwnersSandbox, {});
  if (found === null || found.passwordHash === null) return { state: "unclaimed" };
  const { passwordHash: _, ...bound } = found;
  // A customer's bucket is theirs to fill, not a visitor's.
  if (!mayUpload(deps.config, visitor) || bound.projectId === null || bound.storeName !== null)
    return { state: "off" };
  const keyId = `welcome:${addressGroup(visitor.address)}`;
  const actor = { ...bound, projectId: bound.projectId, cdnUrl: bound.cdnUrl };
  return { state: "ready", actor: { ...actor, keyId, name: "Welcome page", environment: "test" } };
}

/**
 * "local" is for the developer who just started the service. A proxy in front that nobody configured makes the whole
 * internet look local, so forwarding headers and names other than this machine's count as remote.
 */
export function mayUpload(
  config: Pick<Deps["config"], "welcomeUploads" | "publicUrl">,
  visitor: Visitor,
): boolean {
  if (config.welcomeUploads !== "local") return config.welcomeUploads === "on";
  return (
    isLoopbackHost(new URL(config.publicUrl).hostname) &&
    isLoopbackHost(visitor.hostname) &&
    isLoopbackAddress(visitor.address) &&
    !visitor.isForwarded
  );
}

/** Until the owner opens the first sign-in link, there is no password. */
const findOwnersSandbox = statement((q, _: object) =>
  q
    .selectFrom("installation")
    .innerJoin("account", "account.id", "installation.owner_account_id")
    .leftJoin("project", (join) =>
      join.onRef("project.account_id", "=", "account.id").on("project.deleted_at", "is", null),
    )
    .select(["account.password_hash as passwordHash", "project.id as projectId", ...actorColumns])
    .orderBy("project.id")
    .limit(1),
);

export const findUploadEvent = statement((q, p: { projectId: string; fileId: string }) =>
  q
    .selectFrom("webhook_message")
    .select(["id", "event", "body", "created_at"])
    .where("file_id", "=", p.fileId)
    .where("event", "=", "upload.completed")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "test"),
);

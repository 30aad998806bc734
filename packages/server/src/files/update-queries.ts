import type { Access } from "@upstow/contract";
import { sql } from "#kysely";
import { statement } from "../db/statement.ts";
import { notEnded } from "./life.ts";
import { isNamed, namedFile, type Scope } from "./queries.ts";
import type { NamedFile } from "./serialize.ts";

/** What the same transaction changes next. Without the lock, another change could come in between. */
export const lockFile = statement((q, p: Scope & NamedFile & { now: number }, dialect) =>
  namedFile(q, p).$if(dialect === "postgres", (select) => select.forUpdate()),
);

/** Null leaves a column as it is. */
export interface FileChanges {
  name: string | null;
  metadata: string | null;
  access: Access | null;
  /** 1 where `audience` replaces what is there, even by nothing. */
  setsAudience: 0 | 1;
  audience: string | null;
  /** The same for `expiresAt`. */
  setsExpiry: 0 | 1;
  expiresAt: number | null;
  /** The same for `focus`. */
  setsFocus: 0 | 1;
  focus: string | null;
}

export const updateFile = statement((q, p: Scope & NamedFile & FileChanges & { now: number }) =>
  q
    .updateTable("file")
    .set({
      name: sql`coalesce(${p.name}, name)`,
      metadata: sql`coalesce(${p.metadata}, metadata)`,
      access: sql`coalesce(${p.access}, access)`,
      audience: sql`case when cast(${p.setsAudience} as bigint) = 1 then cast(${p.audience} as text) else audience end`,
      expires_at: sql`case when cast(${p.setsExpiry} as bigint) = 1 then cast(${p.expiresAt} as bigint) else expires_at end`,
      focus: sql`case when cast(${p.setsFocus} as bigint) = 1 then cast(${p.focus} as text) else focus end`,
      // What was revoked with the audience stays so when the file leaves it.
      links_revoked_at: sql`coalesce(
        (select old.revoked_at from audience_revocation as old
          where old.project_id = file.project_id and old.environment = file.environment
            and old.audience = file.audience and old.revoked_at > file.links_revoked_at
            and cast(${p.setsAudience} as bigint) = 1),
        links_revoked_at)`,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .where(isNamed(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now))
    .returningAll(),
);

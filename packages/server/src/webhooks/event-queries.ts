import type { Environment } from "@upstow/contract";
import { statement } from "../db/statement.ts";

interface Owned {
  projectId: string;
  environment: Environment;
}

export const findLastSeq = statement((q, p: Owned) =>
  q
    .selectFrom("event_sequence")
    .select("last_seq")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

export const listEventsAfter = statement((q, p: Owned & { after: number; take: number }) =>
  q
    .selectFrom("webhook_message")
    .select(["id", "seq", "event", "file_id", "route_slug", "body", "created_at"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("seq", ">", p.after)
    .orderBy("seq")
    .limit(p.take),
);

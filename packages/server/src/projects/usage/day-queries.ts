import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";

/** Writes down what a month has counted so far, for the projects where that differs from its latest row. */
export const noteDay = statement((q, p: { period: string; day: string }) =>
  q
    .insertInto("usage_day")
    .columns([
      "project_id",
      "environment",
      "day",
      "uploads",
      "bandwidth_bytes",
      "transform_units",
      "stored_bytes",
    ])
    .expression((from) =>
      from
        .selectFrom("usage_period as now")
        .select([
          "now.project_id",
          "now.environment",
          sql<string>`cast(${p.day} as text)`.as("day"),
          "now.uploads",
          "now.bandwidth_bytes",
          "now.transform_units",
          "now.stored_bytes",
        ])
        .where("now.period", "=", p.period)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom("usage_day as before")
                .select("before.day")
                .whereRef("before.project_id", "=", "now.project_id")
                .whereRef("before.environment", "=", "now.environment")
                .where("before.day", "=", (latest) =>
                  latest
                    .selectFrom("usage_day as noted")
                    .select((select) => select.fn.max<string>("noted.day").as("day"))
                    .whereRef("noted.project_id", "=", "now.project_id")
                    .whereRef("noted.environment", "=", "now.environment")
                    .where("noted.day", ">", p.period)
                    .where("noted.day", "<=", p.day),
                )
                .whereRef("before.uploads", "=", "now.uploads")
                .whereRef("before.bandwidth_bytes", "=", "now.bandwidth_bytes")
                .whereRef("before.transform_units", "=", "now.transform_units")
                .whereRef("before.stored_bytes", "=", "now.stored_bytes"),
            ),
          ),
        ),
    )
    .onConflict((conflict) =>
      conflict.columns(["project_id", "environment", "day"]).doUpdateSet({
        uploads: sql`excluded.uploads`,
        bandwidth_bytes: sql`excluded.bandwidth_bytes`,
        transform_units: sql`excluded.transform_units`,
        stored_bytes: sql`excluded.stored_bytes`,
      }),
    ),
);

// bounded: one row per day, kept for 100 days
export const listDays = statement((q, p: { projectId: string; environment: Environment; from: string }) =>
  q
    .selectFrom("usage_day")
    .select(["day", "uploads", "bandwidth_bytes", "transform_units", "stored_bytes"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("day", ">=", p.from)
    .orderBy("day"),
);

export const deleteDaysBefore = statement((q, p: { day: string }) =>
  q.deleteFrom("usage_day").where("day", "<", p.day),
);

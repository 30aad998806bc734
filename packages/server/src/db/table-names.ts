import type { Schema } from "./schema.ts";

/** Every table once, those first that others refer to. */
const everyTable = {
  migration: true,
  account: true,
  installation: true,
  login_link: true,
  project: true,
  customer_store: true,
  file_route: true,
  api_key: true,
  rate_window: true,
  idempotency: true,
  usage_total: true,
  usage_period: true,
  usage_day: true,
  log: true,
  file: true,
  storage_deletion: true,
  transform_use: true,
  variant: true,
  public_variant_key: true,
  disk_store: true,
  disk_object: true,
  disk_part: true,
  disk_small_blob: true,
  event_sequence: true,
  webhook_signing_key: true,
  webhook_endpoint: true,
  webhook_message: true,
  webhook_attempt: true,
  console_session: true,
  project_member: true,
  totp: true,
  recovery_code: true,
  passkey: true,
  sign_in_step: true,
  invitation: true,
  maintenance_report: true,
  read_only: true,
  relocation: true,
  relocated_object: true,
  relocated_table: true,
} satisfies Record<keyof Schema, true>;

export type TableName = keyof Schema;

export const tableNames = Object.keys(everyTable) as TableName[];

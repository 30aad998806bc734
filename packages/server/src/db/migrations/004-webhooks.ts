/**
 * A message is an event of one environment, numbered in the order in which events were committed; one without a
 * URL is only ever streamed. An endpoint is one receiving URL of one environment: `next_run_at` says when to look
 * at its messages next, and its row is the lock that all changes to their state take first.
 */
export const webhooks = `
CREATE TABLE event_sequence (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  last_seq BIGINT NOT NULL,
  PRIMARY KEY (project_id, environment)
);
CREATE TABLE webhook_signing_key (
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  current_sealed TEXT NOT NULL,
  next_sealed TEXT NOT NULL,
  previous_sealed TEXT,
  rotated_at BIGINT,
  PRIMARY KEY (project_id, environment)
);
CREATE TABLE webhook_endpoint (
  id TEXT PRIMARY KEY,
  live_leases BIGINT NOT NULL,
  consecutive_timeouts BIGINT NOT NULL,
  next_run_at BIGINT,
  has_backlog BIGINT NOT NULL,
  touched_at BIGINT NOT NULL
);
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE TABLE webhook_message (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (id),
  environment TEXT NOT NULL,
  seq BIGINT NOT NULL,
  event TEXT NOT NULL,
  file_id TEXT NOT NULL,
  route_slug TEXT NOT NULL,
  body TEXT NOT NULL,
  url TEXT,
  endpoint_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('recorded', 'ready', 'leased', 'delivered', 'dead')),
  attempt_count BIGINT NOT NULL,
  retried BIGINT NOT NULL,
  retries_allowed BIGINT NOT NULL,
  interruptions BIGINT NOT NULL,
  run_at BIGINT NOT NULL,
  lease_until BIGINT,
  lease_token TEXT,
  created_at BIGINT NOT NULL,
  UNIQUE (file_id, event),
  UNIQUE (project_id, environment, seq)
);
CREATE INDEX webhook_message_ready ON webhook_message (endpoint_id, run_at) WHERE state = 'ready';
CREATE INDEX webhook_message_leased ON webhook_message (lease_until) WHERE state = 'leased';
CREATE INDEX webhook_message_dead ON webhook_message (project_id, environment, id) WHERE state = 'dead';
CREATE INDEX webhook_message_listing ON webhook_message (project_id, environment, id) WHERE url IS NOT NULL;
CREATE TABLE webhook_attempt (
  message_id TEXT NOT NULL REFERENCES webhook_message (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  duration_ms BIGINT,
  status_code BIGINT,
  error TEXT,
  response TEXT,
  PRIMARY KEY (message_id, number)
);
`;

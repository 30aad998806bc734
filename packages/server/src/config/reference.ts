export interface ConfigVariable {
  name: string;
  /** As the operator would write it, or in words if it is not a fixed value. */
  default: string;
  about: string;
}

/** What every variable does, for the documentation. A test compares it with what `readConfig` reads. */
export const configReference: readonly ConfigVariable[] = [
  { name: "UPSTOW_HOST", default: "`localhost`", about: "address to listen on; `0.0.0.0` for all" },
  { name: "UPSTOW_PORT", default: "`4000`", about: "port; `0` for any that is free" },
  {
    name: "UPSTOW_DATA_DIR",
    default: "`./data`",
    about: "database, objects and secret of an embedded installation",
  },
  {
    name: "UPSTOW_PUBLIC_URL",
    default: "from host and port",
    about:
      "how clients reach the service; below a path API and files work, the dashboard and other pages do not",
  },
  {
    name: "UPSTOW_CDN_URL",
    default: "the public URL",
    about: "how files are reached, when a CDN or another host serves them",
  },
  {
    name: "UPSTOW_CDN_PURGE",
    default: "none",
    about: "tells that CDN about deletions, see [delivery](delivery.md)",
  },
  {
    name: "UPSTOW_DATABASE_URL",
    default: "embedded SQLite",
    about: "a `postgres://` address, see [PostgreSQL](postgres.md)",
  },
  {
    name: "UPSTOW_REDIS_URL",
    default: "none",
    about: "a `redis://` address: shares rate windows between instances",
  },
  {
    name: "UPSTOW_SECRET",
    default: "made at first start",
    about:
      "at least 32 characters; comma-separated: the first signs, all verify. Needed with several instances",
  },
  {
    name: "UPSTOW_TLS_CERT",
    default: "none",
    about: "PEM file; with `UPSTOW_TLS_KEY` the process serves HTTPS itself",
  },
  { name: "UPSTOW_TLS_KEY", default: "none", about: "PEM file of the certificate's key" },
  {
    name: "UPSTOW_TRUSTED_PROXIES",
    default: "none",
    about: "addresses or CIDRs whose forwarding headers are believed",
  },
  {
    name: "UPSTOW_CONNECTIONS_PER_ADDRESS",
    default: "`512`, loopback exempt",
    about:
      "open connections per client address (IPv6: per /64); more are closed at once. `0` for no limit. Trusted proxies are never counted",
  },
  {
    name: "UPSTOW_HTTP_FROM",
    default: "none",
    about:
      "private networks that may use plain HTTP, as CIDRs (`172.16.0.0/12`), so that containers can call the service; has no effect with `UPSTOW_TLS_CERT`",
  },
  {
    name: "UPSTOW_HSTS",
    default: "`on`",
    about: "`off` leaves `Strict-Transport-Security` out of HTTPS responses",
  },
  {
    name: "UPSTOW_SENDFILE",
    default: "none",
    about: "lets those proxies send stored files themselves, see [delivery](delivery.md)",
  },
  {
    name: "UPSTOW_WEBHOOK_ALLOW_CIDRS",
    default: "none",
    about:
      "private addresses that webhooks may reach, over plain http too; every other webhook must be public and https",
  },
  { name: "UPSTOW_WEBHOOK_RETRY_BASE_MS", default: "`12000`", about: "scales the three retry delays" },
  {
    name: "UPSTOW_STORAGE_ALLOW_CIDRS",
    default: "none",
    about: "private addresses that buckets of customers may have all the same",
  },
  {
    name: "UPSTOW_IMPORT_ALLOW_CIDRS",
    default: "none",
    about:
      "private addresses that files may be imported from, on any port and over plain http too; every other source must be public and https on port 443",
  },
  {
    name: "UPSTOW_CLAMD",
    default: "none",
    about:
      "ClamAV's daemon as `tcp://host:port` or the path of its socket, for [routes that scan](concepts/inspection.md#viruses)",
  },
  {
    name: "UPSTOW_CLAMD_MAX_BYTES",
    default: "`104857600`",
    about:
      "larger files are not sent to it and stay unscanned; at most its `StreamMaxLength` and `MaxFileSize`",
  },
  {
    name: "UPSTOW_ALLOWED_ORIGINS",
    default: "none",
    about: "origins that may call the tool-protocol endpoint from a browser",
  },
  {
    name: "UPSTOW_METRICS_TOKEN",
    default: "none",
    about: "lets `/metrics` be read from elsewhere than this machine",
  },
  {
    name: "UPSTOW_METRICS_ADDRESS",
    default: "none",
    about:
      "a private `host:port` that serves `/metrics` over plain HTTP to private addresses, see [metrics](metrics.md)",
  },
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    default: "none",
    about:
      "an OpenTelemetry collector that speaks OTLP over HTTP, such as `http://localhost:4318`; turns traces on, see [traces](metrics.md#traces)",
  },
  {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    default: "`/v1/traces` of the endpoint",
    about: "the full URL that spans are sent to",
  },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    default: "`1`",
    about:
      "the share of traces to keep, from 0 to 1; a caller that sends `traceparent` has decided for its own",
  },
  { name: "OTEL_SDK_DISABLED", default: "`false`", about: "`true` turns traces off" },
  {
    name: "UPSTOW_RATE_LIMITS",
    default: "`upload=30,transform=120,other=10`",
    about:
      "requests per minute and key, any subset of the three; `off` for none. See [rate limits](concepts/quotas.md#rate-limits)",
  },
  {
    name: "UPSTOW_LOG_LEVEL",
    default: "`info`",
    about: "`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`",
  },
  {
    name: "UPSTOW_FIRST_START_KEYS",
    default: "`print`",
    about:
      "`print`, or `file`: keeps the first keys out of the log, in `first-start.txt` of the data directory, readable by the service's user only",
  },
  {
    name: "UPSTOW_WELCOME_UPLOADS",
    default: "`local`",
    about:
      "who may upload to the sandbox on the [welcome page](welcome-page.md): `local` for browsers on this machine while the public URL is a loopback one, `on` for everyone, `off` for no one",
  },
  {
    name: "UPSTOW_LOG_RETENTION_DAYS",
    default: "`90`",
    about:
      "days that a project's log entries are kept, failed uploads, and names and metadata of deleted files; at least `1`",
  },
  {
    name: "UPSTOW_AUDIT_RETENTION_DAYS",
    default: "`365`",
    about: "days that entries of the [audit log](audit-log.md) are kept, at least `1`",
  },
  { name: "UPSTOW_S3_BUCKET", default: "none", about: "the bucket; setting it switches the store" },
  {
    name: "UPSTOW_S3_ENDPOINT",
    default: "Amazon's, of the region",
    about: "where the service reaches the bucket; may have a path",
  },
  {
    name: "UPSTOW_S3_PUBLIC_ENDPOINT",
    default: "the endpoint",
    about: "where clients reach it, when that is another address (a MinIO in a private network)",
  },
  { name: "UPSTOW_S3_REGION", default: "`us-east-1`", about: "part of every signature" },
  { name: "UPSTOW_S3_ACCESS_KEY_ID", default: "none", about: "needed with a bucket" },
  { name: "UPSTOW_S3_SECRET_ACCESS_KEY", default: "none", about: "needed with a bucket" },
  {
    name: "UPSTOW_S3_FORCE_PATH_STYLE",
    default: "`true` with an endpoint, else `false`",
    about: "the bucket in the path instead of in the host name",
  },
  {
    name: "UPSTOW_S3_PREFIX",
    default: "`upstow/`",
    about: "in front of every object; give each installation its own in a shared bucket; `/` for none",
  },
  {
    name: "UPSTOW_S3_DELIVERY",
    default: "`stream`",
    about: "`stream` or `redirect`: whether files pass through the service or readers are sent to the bucket",
  },
];

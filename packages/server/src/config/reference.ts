export interface ConfigVariable {
  name: string;
  /** As the operator would write it, or in words if it is not a fixed value. */
  default: string;
  about: string;
}

/** Describes every variable for the documentation. A test compares it with the variables that `readConfig` reads. */
export const configReference: readonly ConfigVariable[] = [
  { name: "UPSTOW_HOST", default: "`localhost`", about: "address to listen on; `0.0.0.0` for all" },
  { name: "UPSTOW_PORT", default: "`4000`", about: "port; `0` for any free port" },
  {
    name: "UPSTOW_DATA_DIR",
    default: "`./data`",
    about: "database, objects and secret of an embedded installation",
  },
  {
    name: "UPSTOW_PUBLIC_URL",
    default: "from host and port",
    about:
      "the URL at which clients reach the service. With a path, only the API and files work, not the dashboard and other pages",
  },
  {
    name: "UPSTOW_CDN_URL",
    default: "the public URL",
    about: "base URL of files, if a CDN or another host serves them",
  },
  {
    name: "UPSTOW_CDN_PURGE",
    default: "none",
    about: "how to purge deleted files from that CDN, see [delivery](delivery.md)",
  },
  {
    name: "UPSTOW_DATABASE_URL",
    default: "embedded SQLite",
    about: "a `postgres://` URL, see [PostgreSQL](postgres.md)",
  },
  {
    name: "UPSTOW_REDIS_URL",
    default: "none",
    about: "a `redis://` URL, to share rate limit windows between instances",
  },
  {
    name: "UPSTOW_SECRET",
    default: "created at first start",
    about:
      "at least 32 characters. In a comma-separated list, the first secret signs and all verify. Required with several instances",
  },
  {
    name: "UPSTOW_TLS_CERT",
    default: "none",
    about: "PEM file; together with `UPSTOW_TLS_KEY`, the process serves HTTPS",
  },
  { name: "UPSTOW_TLS_KEY", default: "none", about: "PEM file with the certificate's key" },
  {
    name: "UPSTOW_TRUSTED_PROXIES",
    default: "none",
    about: "addresses or CIDRs whose forwarding headers are trusted",
  },
  {
    name: "UPSTOW_CONNECTIONS_PER_ADDRESS",
    default: "`512`, loopback exempt",
    about:
      "open connections per client address (IPv6: per /64); more are closed immediately. `0` for no limit. Trusted proxies are not limited",
  },
  {
    name: "UPSTOW_HTTP_FROM",
    default: "none",
    about:
      "private networks that may use plain HTTP, as CIDRs (`172.16.0.0/12`), so that containers can call the service. No effect with `UPSTOW_TLS_CERT`",
  },
  {
    name: "UPSTOW_HSTS",
    default: "`on`",
    about: "`off` omits `Strict-Transport-Security` from HTTPS responses",
  },
  {
    name: "UPSTOW_SENDFILE",
    default: "none",
    about: "lets the trusted proxies send stored files themselves, see [delivery](delivery.md)",
  },
  {
    name: "UPSTOW_WEBHOOK_ALLOW_CIDRS",
    default: "none",
    about:
      "private addresses that webhooks may call, also over plain HTTP. All other webhooks must use public HTTPS URLs",
  },
  { name: "UPSTOW_WEBHOOK_RETRY_BASE_MS", default: "`12000`", about: "scales the three retry delays" },
  {
    name: "UPSTOW_STORAGE_ALLOW_CIDRS",
    default: "none",
    about: "private addresses allowed for buckets of customers",
  },
  {
    name: "UPSTOW_IMPORT_ALLOW_CIDRS",
    default: "none",
    about:
      "private addresses that files may be imported from, on any port and also over plain HTTP. All other sources must use public HTTPS on port 443",
  },
  {
    name: "UPSTOW_CLAMD",
    default: "none",
    about:
      "the ClamAV daemon, as `tcp://host:port` or the path of its socket, for [routes that scan](concepts/inspection.md#viruses)",
  },
  {
    name: "UPSTOW_CLAMD_MAX_BYTES",
    default: "`104857600`",
    about: "larger files are not scanned; at most ClamAV's `StreamMaxLength` and `MaxFileSize`",
  },
  {
    name: "UPSTOW_ALLOWED_ORIGINS",
    default: "none",
    about: "origins that may call the tool-protocol endpoint from a browser",
  },
  {
    name: "UPSTOW_METRICS_TOKEN",
    default: "none",
    about: "bearer token for reading `/metrics` from other machines",
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
      "an OpenTelemetry collector for OTLP over HTTP, such as `http://localhost:4318`; enables [traces](metrics.md#traces)",
  },
  {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    default: "`/v1/traces` of the endpoint",
    about: "full URL for sending spans",
  },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    default: "`1`",
    about: "share of traces to keep, from 0 to 1. Callers that send `traceparent` decide for their own",
  },
  { name: "OTEL_SDK_DISABLED", default: "`false`", about: "`true` disables traces" },
  {
    name: "UPSTOW_RATE_LIMITS",
    default: "`upload=30,transform=120,other=10`",
    about:
      "requests per minute and key, any subset of the three; `off` for no limits. See [rate limits](concepts/quotas.md#rate-limits)",
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
      "`print`, or `file` to write the first keys to `first-start.txt` in the data directory instead of the log. Only the service's user can read it",
  },
  {
    name: "UPSTOW_WELCOME_UPLOADS",
    default: "`local`",
    about:
      "who may upload to the sandbox on the [welcome page](welcome-page.md): `local` for browsers on this machine while the public URL is a loopback URL, `on` for everyone, `off` for no one",
  },
  {
    name: "UPSTOW_LOG_RETENTION_DAYS",
    default: "`90`",
    about: "days to keep log entries, failed uploads, and names and metadata of deleted files; at least `1`",
  },
  {
    name: "UPSTOW_AUDIT_RETENTION_DAYS",
    default: "`365`",
    about: "days to keep entries of the [audit log](audit-log.md); at least `1`",
  },
  {
    name: "UPSTOW_S3_BUCKET",
    default: "none",
    about: "the bucket; if set, files are stored in it instead of on disk",
  },
  {
    name: "UPSTOW_S3_ENDPOINT",
    default: "Amazon S3 in the region",
    about: "endpoint for the service; may have a path",
  },
  {
    name: "UPSTOW_S3_PUBLIC_ENDPOINT",
    default: "the endpoint",
    about: "endpoint for clients, if it differs, as with MinIO in a private network",
  },
  { name: "UPSTOW_S3_REGION", default: "`us-east-1`", about: "region used in signatures" },
  { name: "UPSTOW_S3_ACCESS_KEY_ID", default: "none", about: "required with a bucket" },
  { name: "UPSTOW_S3_SECRET_ACCESS_KEY", default: "none", about: "required with a bucket" },
  {
    name: "UPSTOW_S3_FORCE_PATH_STYLE",
    default: "`true` with an endpoint, else `false`",
    about: "puts the bucket in the path instead of the host name",
  },
  {
    name: "UPSTOW_S3_PREFIX",
    default: "`upstow/`",
    about:
      "prefix of every object key; `/` for none. Installations that share a bucket need different prefixes",
  },
  {
    name: "UPSTOW_S3_DELIVERY",
    default: "`stream`",
    about: "`stream` to serve files through the service, or `redirect` to send readers to the bucket",
  },
];

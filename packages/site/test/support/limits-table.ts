import * as contract from "@upstow/contract";
import { KB, MB } from "@upstow/contract";

type Contract = typeof contract;
type Numbers = Readonly<Record<string, number>>;
/** A number of the contract, or one of a group of them, as `FORM_LIMITS.files`. */
type LimitName = {
  [Name in keyof Contract]: Contract[Name] extends number
    ? Name
    : Contract[Name] extends Numbers
      ? `${Name}.${Extract<keyof Contract[Name], string>}`
      : never;
}[keyof Contract];

const isGroup = (value: unknown): value is Numbers =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).length > 0 &&
  Object.values(value).every((member) => typeof member === "number");

const limits = new Map<string, number>(
  Object.entries(contract).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value === "number") return [[name, value] as const];
    if (!isGroup(value)) return [];
    return Object.entries(value).map(([member, number]) => [`${name}.${member}`, number] as const);
  }),
);

/** Each limit of the contract, what it bounds, and what happens beyond it. */
const requests: [LimitName, string, string][] = [
  ["HEADERS_MAX_BYTES", "Request line and headers", "431"],
  ["HEADERS_MAX", "Headers per request", "431"],
  ["REQUEST_URL_MAX", "Characters of a URL", "414"],
  ["QUERY_PARAMS_MAX", "Query parameters", "400"],
  ["PATH_PARAM_MAX", "Characters of an ID or key in the path", "404 or 400"],
  ["BODY_MAX_BYTES", "JSON body", "413"],
  ["ANONYMOUS_BODY_MAX_BYTES", "Body of a request without a key or session", "413"],
  ["BODY_MAX_DEPTH", "Levels of nesting in a JSON body", "400"],
  ["BODY_MAX_KEYS", "Keys in a JSON body", "400"],
  ["BODY_MAX_VALUES", "Values in a JSON body", "400"],
  ["ID_MAX", "Characters of an ID in a body or query", "400"],
  ["UPLOAD_ID_MAX", "Characters of an `uploadId`", "400"],
  ["FILE_KEY_MAX", "Characters of a storage key in a body or query", "400"],
  ["CURSOR_MAX", "Characters of a `cursor`", "400"],
  ["MOMENT_MAX", "Characters of a time", "400"],
  ["IDEMPOTENCY_KEY_MAX", "Characters of an `Idempotency-Key`", "400"],
  ["ERROR_TEXT_MAX", "Characters of a text in an error", "truncated"],
  ["PAGE_MAX", "Items per page", "400"],
  ["BULK_DELETE_MAX", "Files per call that deletes, claims or restores", "400"],
  ["LINKS_MAX", "Files per call that creates or revokes links", "400"],
  ["UPLOAD_BATCH_MAX", "Files per batch of uploads", "400"],
  ["REDELIVER_MAX_IDS", "IDs per redelivery", "400"],
];
const resources: [LimitName, string, string][] = [
  ["PROJECT_NAME_MAX", "Characters of a project name", "400"],
  ["KEY_NAME_MAX", "Characters of an API key's name", "400"],
  ["SLUG_MAX", "Characters of a route slug", "400"],
  ["ROUTES_PER_PROJECT_MAX", "File routes per project, `default` included", "403 `TIER_LIMIT_EXCEEDED`"],
  ["SANDBOX_OPEN_UPLOADS_MAX", "Open uploads per project with test keys", "403 `TIER_LIMIT_EXCEEDED`"],
  ["ALLOWED_TYPES_MAX", "Entries of a route's `allowedTypes`", "400"],
  ["ALLOWED_TYPES_MAX_BYTES", "A route's `allowedTypes` as JSON", "400"],
  ["MEDIA_RANGE_MAX", "Characters of one of the `allowedTypes`", "400"],
  ["URL_MAX", "Characters of a webhook URL", "400"],
  ["IMAGE_LIST_MAX", "Entries of a project's `imageWidths`, and of its `imageQualities`", "400"],
  ["IMAGE_PRESETS_MAX", "Named variants of a project", "400"],
  ["IMAGE_PRESET_NAME_MAX", "Characters of a variant's name", "400"],
  ["FILE_NAME_MAX", "Characters of a file name", "400"],
  ["CONTENT_TYPE_MAX", "Characters of a content type", "400"],
  ["STORAGE_KEY_MAX_BYTES", "Storage key", "the name in it is shortened"],
  ["METADATA_MAX_BYTES", "Metadata of a file as JSON", "400"],
  ["METADATA_MAX_DEPTH", "Levels of nested metadata", "400"],
  ["METADATA_MAX_KEYS", "Keys of the metadata object", "400"],
  ["BUCKET_PUT_MAX_BYTES", "File uploaded to a bucket in one piece", "400, use multipart"],
  ["PARTS_MAX", "Parts of a multipart upload", "400"],
  ["ETAG_MAX", "Characters of an ETag", "400"],
  ["LOG_TYPE_MAX", "Characters of a log type", "400"],
  ["WEBHOOK_RESPONSE_MAX_BYTES", "Stored webhook response", "the rest is not read"],
  ["EVENT_REPLAY_MAX", "Past events at the start of an event stream", "400"],
  ["AUDIENCE_MAX", "Characters of an audience, or of a grant's subject", "400"],
  ["FILE_LIFE_MAX_SEC", "Seconds until a file expires", "400"],
  ["EXPIRE_AFTER_MAX_DAYS", "Days of a route's `expireAfterDays`", "400"],
  ["CLAIM_WITHIN_MAX_SEC", "Seconds of a route's `claimWithin`", "400"],
  ["TRASH_MAX_DAYS", "Days in the trash", "400"],
  ["LINK_MAX_SEC", "Lifetime of a link in seconds", "400"],
  ["GRANT_MAX_SEC", "Lifetime of a grant in seconds", "400"],
  ["UPLOAD_GRANT_MAX_SEC", "Lifetime of an upload grant in seconds", "400"],
  ["UPLOAD_GRANT_FILES_MAX", "Files per upload grant", "400"],
  ["UPLOAD_GRANT_REJECTED_MAX", "Files per upload grant with rejected content", "more count as uploaded"],
  ["LINK_USES_MAX", "Uses of a link with `maxUses`", "400"],
  ["COUNTED_LINKS_PER_FILE_MAX", "Open links with `maxUses` per file", "403 `TIER_LIMIT_EXCEEDED`"],
  ["BUCKET_APPENDS_MAX", "Concurrent resumable appends to buckets, per store and instance", "503"],
  ["CONCAT_MAX", "Partial uploads of one tus file", "400"],
  ["RESUMABLE_IDLE_SEC", "Seconds that a resumable upload may be idle", "the upload ends"],
  ["FORM_LIMITS.files", "Files of an HTML form", "400"],
  ["FORM_LIMITS.fields", "Text fields of an HTML form", "400"],
  ["FORM_LIMITS.nameBytes", "Name of a form's field", "400"],
  ["FORM_LIMITS.valueBytes", "Value of a form's field", "400"],
  ["FORM_LIMITS.headers", "Headers of one part of a form", "the rest is not read"],
  ["FORM_REFUSED_MAX_BYTES", "Bytes of rejected files that an HTML form may send", "the rest is not read"],
  ["FORM_ORIGINS_MAX", "Entries of a route's `formOrigins`", "400"],
  ["ORIGIN_MAX", "Characters of such an origin", "400"],
  ["IMPORT_REDIRECTS_MAX", "Redirects that an import follows", "the import fails"],
  ["IMPORT_ATTEMPTS_MAX", "Attempts of an import", "the import fails"],
  ["IMPORTS_AT_ONCE.account", "Concurrent imports of an account", "wait"],
  ["IMPORTS_AT_ONCE.instance", "Concurrent imports of all accounts, per instance", "wait"],
  ["IMPORT_CONNECT_SEC", "Seconds that an import waits for a connection", "retried"],
  ["IMPORT_IDLE_SEC", "Seconds that an import waits for more bytes", "retried"],
  ["IMPORT_MAX_SEC", "Seconds that an import may take, including retries", "the import fails"],
  ["IMPORT_WAIT_MAX_SEC", "Seconds that an import may wait to start", "the import fails"],
  ["STRIP_MAX_BYTES", "Picture on a route with `stripMetadata`", "422"],
  ["STRIPS_AT_ONCE", "Pictures whose metadata is stripped at once, per instance", "wait"],
  ["SCANS_AT_ONCE", "Files sent to the virus scanner at once, per instance", "wait"],
  ["CLAMD_MAX_BYTES", "File sent to the virus scanner; `UPSTOW_CLAMD_MAX_BYTES` changes it", "unscanned"],
  ["STREAMS_PER_KEY_MAX", "Event streams per key; log streams per session", "429"],
  ["STREAMS_PER_ACCOUNT_MAX", "Event streams per account; log streams per account", "429"],
  ["TOOL_BODY_MAX_BYTES", "Body of a tool-protocol call", "413"],
  ["TOOL_BATCH_MAX", "Messages in a tool-protocol call", "400"],
];
const accounts: [LimitName, string, string][] = [
  ["ACCOUNT_RATE_FACTOR", "Requests of all keys of an account, as a multiple of one key's limits", "429"],
  ["LARGE_REQUESTS_AT_ONCE", "Concurrent large requests of an account, per instance", "wait"],
  [
    "LARGE_BODY_BYTES",
    "Body of a request that isn't large; batches, bulk changes, part URLs and lists of routes are always large",
    "waits",
  ],
  ["KEYS_PER_HOUR", "API keys created per account and hour", "429"],
  ["DASHBOARD_RATE_LIMIT", "Dashboard requests, and dashboard uploads, per account and minute", "429"],
  [
    "DELETED_PROJECTS_MAX",
    "Deleted projects that still have files, open uploads or usage",
    "403 `TIER_LIMIT_EXCEEDED`",
  ],
  ["WEBHOOK_TIMEOUT_SEC", "Seconds that one webhook attempt may take", "retried"],
  ["STUDIO_PREVIEWS.running", "Previews of an account rendered at once", "wait"],
  ["STUDIO_PREVIEWS.waiting", "Previews of an account waiting to be rendered", "429"],
  ["STUDIO_PREVIEWS.perWindow", "Previews of an account per minute", "429"],
  ["OPEN_INVITATIONS_MAX.project", "Open invitations to a project", "403 `TIER_LIMIT_EXCEEDED`"],
  ["OPEN_INVITATIONS_MAX.account", "Open invitations by an account", "403 `TIER_LIMIT_EXCEEDED`"],
  ["VARIANTS_WAITING_MAX", "Image variants of an account waiting to be rendered", "503"],
  [
    "VARIANT_CACHE_MAX_BYTES",
    "Cached image variants of all accounts",
    "the least recently used of the account with the most are removed",
  ],
  ["CONNECTIONS_PER_ADDRESS", "Open connections per client address", "closed"],
  ["PIPELINED_MAX", "Requests sent on a connection ahead of the response to an earlier one", "closed"],
  ["WELCOME_UPLOADS.perAddress", "Uploads on the welcome page per address and minute", "429"],
  ["WELCOME_UPLOADS.total", "Uploads on the welcome page per minute", "429"],
  ["WELCOME_UPLOAD_MAX_BYTES", "File uploaded on the welcome page", "400"],
  ["TRANSFER_IDLE_SEC", "Seconds without any data in a transfer", "disconnected"],
  ["TRANSFER_MIN_BYTES_PER_SEC", "Minimum average rate of a transfer in bytes per second", "disconnected"],
];
const lists: [LimitName, string, string][] = [
  ["LIST_MAX", "Projects, keys, members and deliveries of a file in one list", "the rest is omitted"],
  ["LIST_SCAN_MAX_ROWS", "Files read by one filtered list call", "short page"],
  ["LIST_SCAN_MAX_BYTES", "Metadata read by one filtered list call", "short page"],
  ["DELIVERY_SCAN_MAX_ROWS", "Webhook deliveries read by one filtered list call", "short page"],
  ["METADATA_FILTERS_MAX", "Metadata filters of one list call", "400"],
  ["METADATA_FILTER_MAX", "Characters of a metadata filter's key, and of its value", "400"],
  ["SHORT_LIST_MAX", "Sessions, and attempts of a delivery, in one list", "the rest is omitted"],
  ["PASSKEYS_MAX", "Passkeys per account", "400"],
  ["ARCHIVES_PER_MINUTE", "ZIP archives that an account starts per minute", "429"],
  ["ARCHIVES_AT_ONCE", "ZIP archives that an account downloads at once, per instance", "429"],
  ["ARCHIVE_FILES_MAX", "Files in one downloaded ZIP archive", "400"],
  ["ARCHIVE_FOUND_MAX", "Files in a ZIP archive of everything that a search finds", "400"],
  ["CHANGES_PER_CALL", "Files changed by one dashboard request", "400"],
  ["ARCHIVE_BYTES_MAX", "Total size of the files in a ZIP archive", "400"],
  ["SEARCH_TERM_MAX", "Characters of a search term in the dashboard", "400"],
  [
    "SEARCHES_WAITING_MAX",
    "Waiting searches, lists with metadata and reads of the audit log, per account",
    "429",
  ],
];
const retention: [LimitName, string, string][] = [
  ["LOG_RETENTION_DAYS", "Log entries", "days; `UPSTOW_LOG_RETENTION_DAYS` changes it"],
  ["LOG_RETENTION_DAYS", "Failed uploads", "days; `UPSTOW_LOG_RETENTION_DAYS` changes it"],
  ["AUDIT_RETENTION_DAYS", "Entries of the audit log", "days; `UPSTOW_AUDIT_RETENTION_DAYS` changes it"],
  ["DELIVERY_RETENTION_DAYS", "Webhook deliveries and events, failed ones included", "days"],
  ["IDEMPOTENCY_RETENTION_HOURS", "Responses to an `Idempotency-Key`", "hours"],
  ["RATE_WINDOW_SEC", "Rate limit windows", "seconds"],
];

const groups = { requests, resources, accounts, lists, retention };
const heads: Record<keyof typeof groups, string[]> = {
  requests: ["What", "Limit", "If exceeded"],
  resources: ["What", "Limit", "If exceeded"],
  accounts: ["What", "Limit", "If exceeded"],
  lists: ["What", "Limit", "If exceeded"],
  retention: ["What", "Kept for", "Unit"],
};

export function renderLimits(group: string): { head: string[]; rows: string[][] } {
  const name = group as keyof typeof groups;
  return {
    head: heads[name],
    rows: groups[name].map(([limit, what, beyond]) => [what, show(limit), beyond]),
  };
}

/** Statuses are no limits, and rates have a page of their own. */
const elsewhere = /^(ERROR_STATUS|RATE_LIMITS|ADDRESS_LIMITS)\./;

/** Limits that no table shows, so that a new one cannot be forgotten. */
export function findUnlisted(): string[] {
  const listed = new Set<string>(Object.values(groups).flatMap((rows) => rows.map(([name]) => name)));
  return [...limits.keys()]
    .filter((name) => /\.|_MAX\b|_MAX_|_RETENTION_|_AT_ONCE\b|_PER_/.test(name) && !elsewhere.test(name))
    .filter((name) => !listed.has(name));
}

function show(name: LimitName): string {
  const value = limits.get(name) ?? Number.NaN;
  if (!/_BYTES(_MAX)?$|Bytes$/.test(name)) return value.toLocaleString("en");
  if (value < KB) return `${value} bytes`;
  if (value < MB) return `${value / KB} KB`;
  return value < 1024 * MB ? `${value / MB} MB` : `${value / MB / 1024} GB`;
}

import { GB, KB, MB } from "./units.ts";

export const RATE_WINDOW_SEC = 60;

/** Requests per window and API key, by bucket (spec §8). */
export const RATE_LIMITS = { upload: 30, transform: 120, other: 10 } as const;
export type RateWindowName = keyof typeof RATE_LIMITS;
/** Null: no limit. */
export type RateLimits = Readonly<Record<RateWindowName, number | null>>;

/** All keys of an account together get this many times a key's limit. */
export const ACCOUNT_RATE_FACTOR = 20;
/** API keys an account can create per hour, operator commands excluded. */
export const KEYS_PER_HOUR = 60;
/** Deleted projects per account that still hold files, open uploads or usage of this month. */
export const DELETED_PROJECTS_MAX = 200;

/** Dashboard requests per window and account, for uploads and for everything else. */
export const DASHBOARD_RATE_LIMIT = 600;
/** Requests per window and address. */
export const ADDRESS_LIMITS = { unauthenticated: 3_000, failedPut: 300, toolProtocol: 300 } as const;
export type AddressBucket = keyof typeof ADDRESS_LIMITS;

/** A file that a visitor uploads on the welcome page. */
export const WELCOME_UPLOAD_MAX_BYTES = 5 * MB;
/** Uploads on the welcome page per window, from one address and from everyone. */
export const WELCOME_UPLOADS = { perAddress: 10, total: 60 } as const;
/** Seconds until a file from the welcome page is deleted. */
export const WELCOME_KEEP_SEC = 60 * 60;
/** Seconds that the welcome page waits for the event of an upload. */
export const WELCOME_EVENT_SEC = 60;

export const SINGLE_URL_SEC = 15 * 60;
export const PART_URL_SEC = 60 * 60;
/** A transfer has to average this rate over each idle window, in either direction. */
export const TRANSFER_MIN_BYTES_PER_SEC = 1024;
/** A sender or reader that moves nothing for this long is disconnected. */
export const TRANSFER_IDLE_SEC = 60;
/** Silence after which a new PUT to the same upload URL replaces the one in progress. */
export const PUT_TAKEOVER_SEC = 5;
/** Open connections per client address, unless the operator sets another limit. */
export const CONNECTIONS_PER_ADDRESS = 512;

export const MULTIPART_THRESHOLD_BYTES = 10 * MB;
/** S3's own limit for one PUT; files on disk are only limited by the tier. */
export const BUCKET_PUT_MAX_BYTES = 5 * GB;
export const PART_SIZE_BYTES = 5 * MB;

export const FILE_NAME_MAX = 255;
export const SLUG_MAX = 100;
export const PROJECT_NAME_MAX = 100;
/** Invitations that wait to be accepted: to one project, and made by one account. */
export const OPEN_INVITATIONS_MAX = { project: 50, account: 200 } as const;
/** Passkeys of one account. */
export const PASSKEYS_MAX = 20;
export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 100;
/** Files per call that deletes, claims or restores. */
export const BULK_DELETE_MAX = 100;
/** Files per call that creates or revokes links. */
export const LINKS_MAX = 100;
/** Seconds that a file with an expiry lives at most: 100 years. */
export const FILE_LIFE_MAX_SEC = 36_500 * 24 * 60 * 60;
/** A route's `expireAfterDays` at most. */
export const EXPIRE_AFTER_MAX_DAYS = 36_500;
/** Seconds within which a file has to be claimed, at most. */
export const CLAIM_WITHIN_MAX_SEC = 30 * 24 * 60 * 60;
/** Days that deleted files stay in the trash at most. */
export const TRASH_MAX_DAYS = 90;
/** Seconds that a link lives at most. */
export const LINK_MAX_SEC = 7 * 24 * 60 * 60;
/** Seconds that a grant lives at most. */
export const GRANT_MAX_SEC = 24 * 60 * 60;
/** Seconds that a link or a grant lives unless its creator says otherwise. */
export const LINK_SEC = 60 * 60;
/** Seconds that an upload grant lives at most, and unless its creator says otherwise. */
export const UPLOAD_GRANT_MAX_SEC = 24 * 60 * 60;
export const UPLOAD_GRANT_SEC = 60 * 60;
/** Uploads under one upload grant. */
export const UPLOAD_GRANT_FILES_MAX = 1_000;
/** Files under one upload grant that do not count because their content was rejected. */
export const UPLOAD_GRANT_REJECTED_MAX = 100;
/** Uses of a counted link. */
export const LINK_USES_MAX = 1_000;
/** How long byte ranges of the same client belong to one use of a counted link. */
export const LINK_USE_SEC = 10 * 60;
/** Counted links of one file that can still be used. */
export const COUNTED_LINKS_PER_FILE_MAX = 1_000;
/** Characters of an audience, and of the subject of a grant. */
export const AUDIENCE_MAX = 128;
/** Files per batch of upload requests or completions. */
export const UPLOAD_BATCH_MAX = 100;
/** Of one HTML form: files, text fields, bytes of a field's name and value, and headers of a part. */
export const FORM_LIMITS = {
  files: 100,
  fields: 100,
  nameBytes: 256,
  valueBytes: 16 * KB,
  headers: 20,
} as const;
/** Bytes of rejected files that a form may send before its connection is closed. */
export const FORM_REFUSED_MAX_BYTES = 64 * MB;
/** Origins that a form of a route may redirect to. */
export const FORM_ORIGINS_MAX = 20;
/** Characters of an origin. */
export const ORIGIN_MAX = 255;
/** Redirects that an import follows. */
export const IMPORT_REDIRECTS_MAX = 3;
/** Concurrent imports: per account on all instances, and of all accounts per instance. The rest wait. */
export const IMPORTS_AT_ONCE = { account: 4, instance: 16 } as const;
/** Larger files are not sent to the virus scanner: ClamAV's own default for its limits. */
export const CLAMD_MAX_BYTES = 100 * MB;
/** Files that one instance sends to the virus scanner concurrently. The rest wait. */
export const SCANS_AT_ONCE = 4;

/** Routes that strip metadata reject larger pictures, because stripping loads the picture into memory. */
export const STRIP_MAX_BYTES = 50 * MB;
export const STRIPS_AT_ONCE = 4;
/** How long the source of an import may take to accept the connection. */
export const IMPORT_CONNECT_SEC = 10;
/** The source of an import has to average the minimum rate over each of these windows. */
export const IMPORT_IDLE_SEC = 30;
/** How long one import may take from its start, retries included. */
export const IMPORT_MAX_SEC = 60 * 60;
/** How long an import may wait for its start. */
export const IMPORT_WAIT_MAX_SEC = 24 * 60 * 60;
/** How often an import asks its source. */
export const IMPORT_ATTEMPTS_MAX = 4;
/** Rows that one filtered list call reads before it returns a short page. */
export const LIST_SCAN_MAX_ROWS = 7_500;
/** Metadata that one filtered list call reads before it returns a short page; one file always goes. */
export const LIST_SCAN_MAX_BYTES = MB;
/** Webhook deliveries that one filtered list call reads before it returns a short page. */
export const DELIVERY_SCAN_MAX_ROWS = 25_000;
/** Metadata filters of one list call. */
export const METADATA_FILTERS_MAX = 5;
/** Characters of a metadata filter's key, and of its value. */
export const METADATA_FILTER_MAX = 1_024;
export const METADATA_MAX_BYTES = 16 * KB;
export const METADATA_MAX_DEPTH = 10;
export const BODY_MAX_BYTES = MB;
/** A larger JSON body takes one of its account's places for large requests. */
export const LARGE_BODY_BYTES = 64 * KB;
/** Large requests of one account handled concurrently, per instance; more wait. */
export const LARGE_REQUESTS_AT_ONCE = 4;
/** Requests that a connection may send before it has the response to an earlier one. */
export const PIPELINED_MAX = 32;
/** Body of a call that needs neither key nor session. */
export const ANONYMOUS_BODY_MAX_BYTES = 64 * KB;
/** Levels of nested objects and arrays in a JSON body. */
export const BODY_MAX_DEPTH = 100;
/** Keys of all objects in a JSON body. The parts of the largest multipart upload have 20,000. */
export const BODY_MAX_KEYS = 30_000;
/** Values of all objects and arrays in a JSON body. */
export const BODY_MAX_VALUES = 60_000;
export const STORAGE_KEY_MAX_BYTES = 900;

/** Variants of one account that may wait to be rendered; beyond it 503 with Retry-After, to that account alone. */
export const VARIANTS_WAITING_MAX = 64;
/** Variants that are kept, of all accounts. The account with the most gives up its least recently used. */
export const VARIANT_CACHE_MAX_BYTES = 10 * GB;
/** Default widths of public variants: those that next/image requests. */
export const IMAGE_WIDTHS = [
  16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840,
] as const;
/** Qualities of public variants unless a project lists others. */
export const IMAGE_QUALITIES = [75, 85] as const;
/** Entries of a project's lists of public widths and qualities. */
export const IMAGE_LIST_MAX = 64;
/** Named variants of a project, and characters of such a name. */
export const IMAGE_PRESETS_MAX = 64;
export const IMAGE_PRESET_NAME_MAX = 50;
/** Studio previews, which cost nothing, per account: concurrent, waiting, and per window; more get 429. */
export const STUDIO_PREVIEWS = { running: 2, waiting: 10, perWindow: 240 } as const;
/** Files of one archive that the dashboard downloads, so that their ids fit into a URL. */
export const ARCHIVE_FILES_MAX = 250;
/** Files of one archive of everything that a search in the dashboard finds. */
export const ARCHIVE_FOUND_MAX = 10_000;
/** Bytes of one archive. */
export const ARCHIVE_BYTES_MAX = 50 * GB;
/** Archives that one account starts per minute, and downloads at once from one instance. */
export const ARCHIVES_PER_MINUTE = 30;
export const ARCHIVES_AT_ONCE = 10;
/** Files that one call of the dashboard changes: for more, it is called again. */
export const CHANGES_PER_CALL = 200;
/** Characters of one search term in the dashboard. */
export const SEARCH_TERM_MAX = 64;
/** Searches and reads of the audit log of one account that may wait for their turn, per instance. */
export const SEARCHES_WAITING_MAX = 16;
/** Characters of a MIME type with its parameters. */
export const CONTENT_TYPE_MAX = 255;
/** Characters of a log entry's type. */
export const LOG_TYPE_MAX = 100;
/** Characters of a media range such as image/*. */
export const MEDIA_RANGE_MAX = 255;
/** Characters of a cursor. */
export const CURSOR_MAX = 200;
/** Characters of a URL, such as that of a webhook. */
export const URL_MAX = 2048;
/** File routes of one project, the default one included. */
export const ROUTES_PER_PROJECT_MAX = 1_000;
/** Open uploads of a project's test environment, which has no upload quota. */
export const SANDBOX_OPEN_UPLOADS_MAX = 10_000;
/** Entries of a route's allowedTypes. */
export const ALLOWED_TYPES_MAX = 100;
/** All allowedTypes of a route, as JSON. */
export const ALLOWED_TYPES_MAX_BYTES = 4 * KB;
/** Characters of one path parameter, such as an id or a percent-encoded storage key. */
export const PATH_PARAM_MAX = 4096;
/** Characters of an id in a body or a query. */
export const ID_MAX = 100;
/** Characters of a multipart upload's id, which buckets choose. */
export const UPLOAD_ID_MAX = 1024;
/** Characters of a storage key in a body or a query. */
export const FILE_KEY_MAX = 1024;
/** Characters of a moment in time. */
export const MOMENT_MAX = 64;
/** Parts of one multipart upload. */
export const PARTS_MAX = 10_000;
/** Concurrent appends to buckets, per store and instance, because each holds a part in memory. More get 503. */
export const BUCKET_APPENDS_MAX = 64;
/** Partial uploads that tus puts together to one file. */
export const CONCAT_MAX = 100;
/** Seconds that a resumable upload waits for its next bytes. */
export const RESUMABLE_IDLE_SEC = 24 * 60 * 60;
/** Characters of an ETag. */
export const ETAG_MAX = 256;
/** Keys of a metadata object; its bytes usually end it sooner. */
export const METADATA_MAX_KEYS = 4096;
/** Characters of an API key's name. */
export const KEY_NAME_MAX = 100;
/** Rows of a list that is returned whole, such as projects, keys or members; the newest are kept. */
export const LIST_MAX = 1_000;
/** Sessions, attempts of a delivery and deleted projects are listed up to this number, the newest first. */
export const SHORT_LIST_MAX = 100;
/** Bytes of a request's first line and headers together. */
export const HEADERS_MAX_BYTES = 16 * KB;
/** Headers of one request. */
export const HEADERS_MAX = 200;
/** Characters of a request's URL. */
export const REQUEST_URL_MAX = 8 * KB;
/** Query parameters of one request. */
export const QUERY_PARAMS_MAX = 100;
/** Characters of a text in an error; longer ones are cut. */
export const ERROR_TEXT_MAX = 1_000;
/** Characters of an Idempotency-Key. */
export const IDEMPOTENCY_KEY_MAX = 255;
/** Event streams of one API key, or log streams of one session, per instance. */
export const STREAMS_PER_KEY_MAX = 10;
/** Event streams of one account, and log streams as many again, per instance. */
export const STREAMS_PER_ACCOUNT_MAX = 50;
/** One attempt of a webhook, from DNS to the last byte of the response. */
export const WEBHOOK_TIMEOUT_SEC = 30;
/** Stored bytes of a webhook's response. */
export const WEBHOOK_RESPONSE_MAX_BYTES = 16 * KB;
/** Body of a call to the tool protocol. */
export const TOOL_BODY_MAX_BYTES = 256 * KB;
/** Messages of one call to the tool protocol. */
export const TOOL_BATCH_MAX = 100;
/** Days that log entries are kept, unless the operator says otherwise. */
export const LOG_RETENTION_DAYS = 90;
/** Days that entries of the audit log are kept, unless the operator says otherwise. */
export const AUDIT_RETENTION_DAYS = 365;
/** Days that webhook deliveries and events are kept. */
export const DELIVERY_RETENTION_DAYS = 30;
/** Hours within which a repeated Idempotency-Key replays the first response. */
export const IDEMPOTENCY_RETENTION_HOURS = 24;

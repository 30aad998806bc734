export const STORAGE_PROVIDERS = ["s3", "r2", "gcs", "b2", "minio"] as const;
export type StorageProvider = (typeof STORAGE_PROVIDERS)[number];

interface Provider {
  title: string;
  endpoint: string | null;
  region: string;
  pathStyle: boolean;
  keysFrom: string;
}

const providers: Record<StorageProvider, Provider> = {
  s3: {
    title: "Amazon S3",
    endpoint: null,
    region: "eu-central-1",
    pathStyle: false,
    keysFrom: "an IAM user with read, write, list and delete access to this bucket only",
  },
  r2: {
    title: "Cloudflare R2",
    endpoint: "https://<account-id>.r2.cloudflarestorage.com",
    region: "auto",
    pathStyle: true,
    keysFrom: "R2 > Manage API tokens, with Object Read & Write on this bucket only",
  },
  gcs: {
    title: "Google Cloud Storage",
    endpoint: "https://storage.googleapis.com",
    region: "auto",
    pathStyle: true,
    keysFrom: "Cloud Storage > Settings > Interoperability, an HMAC key of a service account",
  },
  b2: {
    title: "Backblaze B2",
    endpoint: "https://s3.<region>.backblazeb2.com",
    region: "<region>",
    pathStyle: true,
    keysFrom: "Application Keys, with read and write access to this bucket only",
  },
  minio: {
    title: "MinIO",
    endpoint: "https://minio.example.com",
    region: "us-east-1",
    pathStyle: true,
    keysFrom: "an access key of a user with a read-write policy on this bucket only",
  },
};

/** What browsers need to upload to the bucket. `upstow doctor --fix` sets the same. */
const cors = {
  origins: ["*"],
  methods: ["PUT", "GET", "HEAD"],
  headers: ["content-type", "range", "if-match", "if-none-match", "if-range", "if-modified-since"],
  exposed: ["ETag", "Content-Range"],
  maxAgeSec: 3600,
};

/**
 * How to keep files in a bucket of one's own: of one project, set by its owner or the operator, or of the whole
 * installation, by variables; and the CORS rules in the provider's own form.
 */
export function getByosConfig(provider: StorageProvider) {
  const { title, endpoint, region, pathStyle, keysFrom } = providers[provider];
  const env = {
    UPSTOW_S3_BUCKET: "<bucket>",
    ...(endpoint === null ? {} : { UPSTOW_S3_ENDPOINT: endpoint }),
    UPSTOW_S3_REGION: region,
    UPSTOW_S3_ACCESS_KEY_ID: "<access key id>",
    UPSTOW_S3_SECRET_ACCESS_KEY: "<secret access key>",
    UPSTOW_S3_FORCE_PATH_STYLE: String(pathStyle),
  };
  return {
    provider,
    title,
    keysFrom,
    cors: provider === "gcs" ? [googleCors()] : [s3Cors()],
    project: {
      dashboard:
        "Settings > Storage of the project: bucket, endpoint, region and keys. Only the project's owner sees the form.",
      command: setCommand(providers[provider]),
      next: "The bucket is tested before it is saved. Set its CORS rules, then run 'npm run --silent upstow -- storage probe --project <project id>'. New files of this project are stored there; existing files are not moved.",
    },
    env,
    next: "For all projects of an installation, its operator sets the variables instead. Set the variables, then run 'npm run --silent upstow -- doctor --fix': it tests all the permissions that the service needs and sets the CORS rules if the provider lets it; elsewhere paste them into the bucket's settings.",
  };
}

/** For the operator, on the machine of the service; the secret comes from standard input. */
function setCommand({ endpoint, region, pathStyle }: Provider): string {
  return [
    "npm run --silent upstow -- storage set --project '<project id>' --bucket '<bucket>'",
    ...(endpoint === null ? [] : [`--endpoint '${endpoint}'`]),
    `--region '${region}'`,
    pathStyle ? "--path-style" : "--host-style",
    "--access-key-id '<access key id>' --secret-access-key -",
  ].join(" ");
}

function s3Cors() {
  return {
    AllowedOrigins: cors.origins,
    AllowedMethods: cors.methods,
    AllowedHeaders: cors.headers,
    ExposeHeaders: cors.exposed,
    MaxAgeSeconds: cors.maxAgeSec,
  };
}

/** For `gcloud storage buckets update --cors-file`: one list for headers that are sent and that are shown. */
function googleCors() {
  return {
    origin: cors.origins,
    method: cors.methods,
    responseHeader: [...cors.headers, ...cors.exposed],
    maxAgeSeconds: cors.maxAgeSec,
  };
}

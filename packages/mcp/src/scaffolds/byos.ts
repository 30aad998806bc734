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
    keysFrom: "an IAM user that may read, write, list and delete in this one bucket",
  },
  r2: {
    title: "Cloudflare R2",
    endpoint: "https://<account-id>.r2.cloudflarestorage.com",
    region: "auto",
    pathStyle: true,
    keysFrom: "R2 > Manage API tokens, with Object Read & Write on this one bucket",
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
    keysFrom: "Application Keys, restricted to this one bucket with read and write",
  },
  minio: {
    title: "MinIO",
    endpoint: "https://minio.example.com",
    region: "us-east-1",
    pathStyle: true,
    keysFrom: "an access key of a user with a read-write policy on this one bucket",
  },
};

/** How to keep files in a bucket of one's own: the variables, and the CORS rule that browsers need. */
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
    env,
    keysFrom,
    cors: [
      {
        AllowedOrigins: ["*"],
        AllowedMethods: ["PUT", "GET", "HEAD"],
        AllowedHeaders: ["*"],
        ExposeHeaders: ["ETag"],
        MaxAgeSeconds: 86400,
      },
    ],
    next: "Set the variables, start the service, then run 'npm run upstow -- doctor' to check bucket, permissions and CORS.",
  };
}

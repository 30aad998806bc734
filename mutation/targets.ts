export interface Target {
  file: string;
  /** Those that should notice, the likeliest first. */
  tests: string[];
}

const server = "packages/server";
const uploads = `${server}/src/features/uploads`;
const apiTest = (name: string) => `${server}/test/${name}.test.ts`;

const ofUploads = ["uploads-complete", "uploads-states", "uploads-abandoned", "uploads-request", "quota"].map(
  apiTest,
);
const onBuckets = ["s3-storage", "customer-storage"].map(apiTest);
const ofKeys = ["authentication", "spec-api-keys", "spec-projects"].map(apiTest);

/** The state machine of uploads, authentication and signing: what must not be changed without a test failing. */
export const targets: Target[] = [
  { file: `${uploads}/finish-upload.ts`, tests: [...ofUploads, ...onBuckets] },
  { file: `${uploads}/queries.ts`, tests: ofUploads },
  { file: `${uploads}/reaper.ts`, tests: [apiTest("uploads-abandoned"), ...ofUploads, ...onBuckets] },
  { file: `${uploads}/lifetime.ts`, tests: [apiTest("uploads-abandoned"), apiTest("model")] },
  { file: `${uploads}/rules.ts`, tests: [apiTest("uploads-request"), ...ofUploads] },
  { file: `${server}/src/http/authenticate.ts`, tests: [...ofKeys, apiTest("rate-limits")] },
  { file: `${server}/src/security/api-key-secret.ts`, tests: ofKeys },
  { file: `${server}/src/features/api-keys/queries.ts`, tests: ofKeys },
  {
    file: `${server}/src/adapters/disk-store/presigned-url.ts`,
    tests: ["presigned-url", "upload-receiver"].map(
      (name) => `${server}/src/adapters/disk-store/${name}.test.ts`,
    ),
  },
  {
    file: `${server}/src/features/webhooks/sign-delivery.ts`,
    tests: ["sign-delivery", "send"].map((name) => `${server}/src/features/webhooks/${name}.test.ts`),
  },
  {
    file: `${server}/src/features/transforms/variant-signature.ts`,
    tests: [`${server}/src/features/transforms/variant-signature.test.ts`, apiTest("transforms")],
  },
];

export interface Target {
  file: string;
  /** Those that should notice, the likeliest first. */
  tests: string[];
}

const server = "packages/server";
const uploads = `${server}/src/files/uploads`;
const apiTest = (name: string) => `${server}/test/${name}.test.ts`;

const guards = apiTest("uploads-guards");
const ofUploads = ["uploads-complete", "uploads-states", "uploads-abandoned", "uploads-request", "quota"].map(
  apiTest,
);
const onBuckets = ["s3-storage", "customer-storage"].map(apiTest);
const ofKeys = ["spec-api-keys", "authentication", "spec-projects"].map(apiTest);
const ofSigning = ["sign-delivery", "send"].map((name) => `${server}/src/webhooks/${name}.test.ts`);
const links = `${server}/src/serving/links`;
const ofLinks = [
  "private-files",
  "private-files-counted",
  "private-files-cdn",
  "private-files-alike",
  "custom-domains",
  "openapi",
].map(apiTest);
const sdkLinks = ["packages/sdk/test/links.test.ts"];

/** The state machine of uploads, authentication and signing: what must not be changed without a test failing. */
export const targets: Target[] = [
  { file: `${uploads}/finish-upload.ts`, tests: [guards, ...onBuckets, ...ofUploads] },
  { file: `${uploads}/seal.ts`, tests: [guards, ...onBuckets, ...ofUploads] },
  { file: `${uploads}/queries.ts`, tests: [guards, ...ofUploads] },
  { file: `${uploads}/reaper.ts`, tests: [guards, ...ofUploads, ...onBuckets] },
  {
    file: `${uploads}/rules.ts`,
    tests: [`${uploads}/rules.test.ts`, guards, ...ofUploads, apiTest("s3-storage"), apiTest("model")],
  },
  { file: `${server}/src/projects/api-keys/authenticate.ts`, tests: [...ofKeys, apiTest("rate-limits")] },
  {
    file: `${server}/src/kernel/security/api-key-secret.ts`,
    tests: [`${server}/src/kernel/security/api-key-secret.test.ts`, ...ofKeys],
  },
  { file: `${server}/src/projects/api-keys/queries.ts`, tests: ofKeys },
  {
    file: `${server}/src/storage/disk/presigned-url.ts`,
    tests: ["presigned-url", "upload-receiver"].map((name) => `${server}/src/storage/disk/${name}.test.ts`),
  },
  { file: `${server}/src/webhooks/sign-delivery.ts`, tests: ofSigning },
  {
    file: `${server}/src/serving/images/variant-signature.ts`,
    tests: [`${server}/src/serving/images/variant-signature.test.ts`, apiTest("transforms")],
  },
  { file: `${links}/tokens.ts`, tests: [`${links}/tokens.test.ts`, apiTest("private-files")] },
  { file: `${links}/serving.ts`, tests: ofLinks },
  { file: `${links}/count-use.ts`, tests: [...ofLinks, apiTest("private-files-instances")] },
  { file: "packages/sdk/src/links/sign.ts", tests: sdkLinks },
  { file: "packages/sdk/src/links/create-signer.ts", tests: sdkLinks },
];

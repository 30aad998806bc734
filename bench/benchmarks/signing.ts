import { S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { AwsClient } from "aws4fetch";
import { encodePath } from "../../packages/server/src/storage/s3/location.ts";
import { createSigner } from "../../packages/server/src/storage/s3/sigv4.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

const parts = 2_048;
const targetMs = 50;
const expiresInSec = 3_600;
const credentials = {
  accessKeyId: "AKIAEXAMPLE",
  secretAccessKey: "a secret of the usual forty characters .",
};
const [region, host, key, uploadId] = [
  "eu-central-1",
  "bucket.s3.eu-central-1.amazonaws.com",
  "a/b c/ü.bin",
  "u-1",
];
const partNumbers = Array.from({ length: parts }, (_, i) => i + 1);

/** How each makes the URLs of an upload of 10 GB, the largest there is. */
const signers: Record<string, () => Promise<string[]>> = {
  async Upstow() {
    const signer = createSigner({ ...credentials, region, now: Date.now });
    const request = {
      origin: `https://${host}`,
      path: `/${encodePath(key)}`,
      headers: { host },
      expiresInSec,
    };
    return signer.presignParts(request, uploadId, partNumbers);
  },
  async aws4fetch() {
    const client = new AwsClient({ ...credentials, region, service: "s3" });
    const sign = async (partNumber: number) => {
      const query = `partNumber=${partNumber}&uploadId=${uploadId}&X-Amz-Expires=${expiresInSec}`;
      const url = `https://${host}/${encodePath(key)}?${query}`;
      return (await client.sign(url, { method: "PUT", aws: { signQuery: true } })).url;
    };
    return Promise.all(partNumbers.map(sign));
  },
  async "@aws-sdk/s3-request-presigner"() {
    const client = new S3Client({ region, credentials, requestChecksumCalculation: "WHEN_REQUIRED" });
    const sign = (PartNumber: number) => {
      const command = new UploadPartCommand({ Bucket: "bucket", Key: key, UploadId: uploadId, PartNumber });
      return getSignedUrl(client, command, { expiresIn: expiresInSec });
    };
    const urls = await Promise.all(partNumbers.map(sign));
    client.destroy();
    return urls;
  },
};

export const signing: Benchmark = {
  title: `Signing: URLs for an upload of ${parts.toLocaleString("en")} parts`,
  async run({ rounds }) {
    const cpuMs = new Map(Object.keys(signers).map((name) => [name, [] as number[]]));
    // One round to warm up, then by turns, so that whatever else the machine does hits all alike.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, sign] of Object.entries(signers)) {
        const before = process.cpuUsage();
        const urls = await sign();
        const { user, system } = process.cpuUsage(before);
        if (new Set(urls).size !== parts) throw new Error(`${name} did not sign every part`);
        if (round > 0) cpuMs.get(name)?.push((user + system) / 1000);
      }
    }
    const spreads = [...cpuMs].map(([name, all]) => ({ name, ...spreadOf(all) }));
    const own = cpuMs.get("Upstow") ?? [];
    const besideOwn = (name: string) =>
      formatShare(spreadOf(own.map((ms, i) => ms / (cpuMs.get(name)?.[i] ?? Number.NaN))));
    return {
      tables: [
        {
          caption: `CPU time for ${parts.toLocaleString("en")} presigned part URLs, ms`,
          columns: ["", "median", "spread", "Upstow's CPU beside it", "target"],
          rows: spreads.map(({ name, median, least, most }) => [
            name,
            formatNumber(median),
            `${formatNumber(least)}–${formatNumber(most)}`,
            name === "Upstow" ? "" : besideOwn(name),
            name === "Upstow" ? `below ${targetMs} ${median < targetMs ? "✔" : "✖"}` : "",
          ]),
        },
      ],
      notes: ["Tests check that all three create the same signatures."],
      data: { parts, cpuMs: Object.fromEntries(cpuMs) },
    };
  },
};

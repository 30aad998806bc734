import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { GetObjectCommand, PutObjectCommand, S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { AwsV4Signer } from "aws4fetch";
import fc from "fast-check";
import { createLocation } from "./location.ts";
import { createSigner } from "./sigv4.ts";

const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};
const region = "eu-central-1";
const signedAt = new Date("2026-03-14T15:09:26.535Z");
const signer = createSigner({ ...credentials, region, now: () => signedAt.getTime() });
const place = { bucket: "bucket", endpoint: "https://s3.example.com", region, forcePathStyle: true };
const { origin, host, pathOf } = createLocation(place);
const sdk = new S3Client({
  credentials,
  region,
  endpoint: place.endpoint,
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED",
});

const awkwardKeys = [
  "plain.txt",
  "ünï cödé 😀.txt",
  "a+b c%20d%2Fe~f",
  "double//slash/./and/end/",
  "!'()*$&,;=:@?#[]{}|\\^`\"<>",
  "e\u0301 is not \u00e9",
  "..hidden/..",
];

/** The parameters that the other signer added on its own are part of what it signed. */
function extrasOf(url: string, ...names: string[]): Record<string, string> {
  const { searchParams } = new URL(url);
  return Object.fromEntries([...searchParams].filter(([name]) => names.includes(name)));
}

function assertSameUrl(ours: string, theirs: string): void {
  const [a, b] = [new URL(ours), new URL(theirs)];
  a.searchParams.sort();
  b.searchParams.sort();
  assert.equal(a.href, b.href);
}

describe("signatures", () => {
  for (const key of awkwardKeys) {
    it(`are those of the AWS SDK for ${JSON.stringify(key)}`, async () => {
      const expiresInSec = 900;
      const common = { origin, path: pathOf(key), expiresInSec };
      const options = { expiresIn: expiresInSec, signingDate: signedAt };
      const added = ["x-id", "X-Amz-Content-Sha256", "x-amz-checksum-mode"];

      const put = new PutObjectCommand({
        Bucket: "bucket",
        Key: key,
        ContentType: "text/plain",
        ContentLength: 11,
      });
      const putUrl = await getSignedUrl(sdk, put, {
        ...options,
        signableHeaders: new Set(["content-type", "content-length", "host"]),
      });
      const headers = { host, "content-type": "text/plain", "content-length": "11" };
      assertSameUrl(
        signer.presign({ ...common, method: "PUT", headers, query: extrasOf(putUrl, ...added) }),
        putUrl,
      );

      const get = new GetObjectCommand({
        Bucket: "bucket",
        Key: key,
        ResponseContentType: "text/plain; charset=utf-8",
        ResponseContentDisposition: "attachment; filename*=UTF-8''%C3%BC.txt",
      });
      const getUrl = await getSignedUrl(sdk, get, options);
      const overrides = {
        ...extrasOf(getUrl, ...added),
        "response-content-type": "text/plain; charset=utf-8",
        "response-content-disposition": "attachment; filename*=UTF-8''%C3%BC.txt",
      };
      assertSameUrl(
        signer.presign({ ...common, method: "GET", headers: { host }, query: overrides }),
        getUrl,
      );

      const part = new UploadPartCommand({
        Bucket: "bucket",
        Key: key,
        UploadId: "up/load+id=",
        PartNumber: 7,
      });
      const partUrl = await getSignedUrl(sdk, part, options);
      const partQuery = { ...extrasOf(partUrl, ...added), partNumber: "7", uploadId: "up/load+id=" };
      assertSameUrl(
        signer.presign({ ...common, method: "PUT", headers: { host }, query: partQuery }),
        partUrl,
      );
    });
  }

  it("of a batch are those of its parts one by one", () => {
    const request = { origin, path: pathOf("ü b+c"), headers: { host }, expiresInSec: 3600 };
    const partNumbers = [1, 2, 10, 999, 10_000];
    assert.deepEqual(
      signer.presignParts(request, "up/load+id=", partNumbers),
      partNumbers.map((partNumber) =>
        signer.presign({
          ...request,
          method: "PUT",
          query: { partNumber: String(partNumber), uploadId: "up/load+id=" },
        }),
      ),
    );
  });

  it("of requests and URLs are those of aws4fetch, for any key", async () => {
    const datetime = signedAt.toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 30 }), async (key) => {
        const path = pathOf(key);
        // Addresses lose their dot segments before aws4fetch sees them.
        fc.pre(new URL(origin + path).pathname === path);
        const url = `${origin}${path}?a=1&list-type=2`;
        const common = { ...credentials, service: "s3", region, datetime, url };

        const presigned = new AwsV4Signer({ ...common, method: "PUT", signQuery: true });
        const query = { a: "1", "list-type": "2" };
        const ours = signer.presign({
          method: "PUT",
          origin,
          path,
          query,
          headers: { host },
          expiresInSec: 86_400,
        });
        assertSameUrl(ours, (await presigned.sign()).url.href);

        const bodySha256 = hash("sha256", "body");
        const headers = {
          "content-type": "text/xml",
          "x-amz-copy-source": "/b/k",
          "x-amz-content-sha256": bodySha256,
        };
        const signed = await new AwsV4Signer({
          ...common,
          method: "POST",
          headers,
          body: "body",
          allHeaders: true,
        }).sign();
        const { authorization } = signer.signHeaders({
          method: "POST",
          path,
          query: "a=1&list-type=2",
          headers: { host, "content-type": "text/xml", "x-amz-copy-source": "/b/k" },
          bodySha256,
        });
        assert.equal(authorization, signed.headers.get("authorization"));
      }),
      { numRuns: 50 },
    );
  });

  it("of temporary credentials are those of aws4fetch, for requests and for URLs", async () => {
    const temporary = { ...credentials, sessionToken: "IQoJb3JpZ2lu//a+b==" };
    const signsWithToken = createSigner({ ...temporary, region, now: () => signedAt.getTime() });
    const datetime = signedAt.toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
    const path = pathOf("k");
    const common = { ...temporary, service: "s3", region, datetime, method: "GET", url: origin + path };
    const presigned = await new AwsV4Signer({ ...common, signQuery: true }).sign();
    const request = { method: "GET", origin, path, headers: { host }, expiresInSec: 86_400 };
    assertSameUrl(signsWithToken.presign(request), presigned.url.href);
    const bodySha256 = hash("sha256", "");
    const headers = { "x-amz-content-sha256": bodySha256 };
    const signed = (await new AwsV4Signer({ ...common, headers, allHeaders: true }).sign()).headers;
    const ours = signsWithToken.signHeaders({
      method: "GET",
      path,
      query: "",
      headers: { host },
      bodySha256,
    });
    assert.equal(ours["x-amz-security-token"], temporary.sessionToken);
    assert.equal(ours["authorization"], signed.get("authorization"));
  });

  it("use the key of the day", () => {
    let now = Date.parse("2026-03-14T23:59:59.999Z");
    const overnight = createSigner({ ...credentials, region, now: () => now });
    const request = { method: "GET", origin, path: pathOf("k"), headers: { host }, expiresInSec: 60 };
    const before = overnight.presign(request);
    now += 1;
    const after = overnight.presign(request);
    assert.match(before, /X-Amz-Credential=AKIDEXAMPLE%2F20260314%2F/);
    assert.match(after, /X-Amz-Credential=AKIDEXAMPLE%2F20260315%2F/);
    assert.equal(after, createSigner({ ...credentials, region, now: () => now }).presign(request));
  });

  it("carry the second they are made in, also when the clock is set back", () => {
    let now = signedAt.getTime();
    const ticking = createSigner({ ...credentials, region, now: () => now });
    const request = { method: "GET", origin, path: pathOf("k"), headers: { host }, expiresInSec: 60 };
    const times = [0, 464, 465, 2_000, -5_000].map((stepMs) => {
      now = signedAt.getTime() + stepMs;
      const url = ticking.presign(request);
      assert.equal(url, createSigner({ ...credentials, region, now: () => now }).presign(request));
      return new URL(url).searchParams.get("X-Amz-Date");
    });
    const expected = ["20260314T150926Z", "20260314T150926Z", "20260314T150927Z", "20260314T150928Z"];
    assert.deepEqual(times, [...expected, "20260314T150921Z"]);
  });

  it("take runs of white space in a header for one space, and none at its ends", () => {
    const sign = (given: string) =>
      signer.presign({
        method: "PUT",
        origin,
        path: pathOf("k"),
        headers: { host, given },
        expiresInSec: 60,
      });
    for (const loose of [" a b", "a b ", "a  b", "a\tb", "\ta \n b\t"])
      assert.equal(sign(loose), sign("a b"));
    assert.notEqual(sign("ab"), sign("a b"));
  });
});

describe("a bucket's address", () => {
  it("is Amazon's own without an endpoint, with the bucket in the name", () => {
    const amazon = createLocation({ bucket: "bucket", endpoint: null, region, forcePathStyle: false });
    assert.equal(amazon.origin + amazon.pathOf("a b"), "https://bucket.s3.eu-central-1.amazonaws.com/a%20b");
    assert.equal(amazon.pathOf(), "/");
  });

  it("has the bucket in the path where that is wanted, where it has dots, and below an endpoint's own path", () => {
    const dotted = createLocation({ bucket: "a.b", endpoint: null, region, forcePathStyle: false });
    assert.equal(dotted.origin + dotted.pathOf("k"), "https://s3.eu-central-1.amazonaws.com/a.b/k");
    const below = createLocation({ ...place, endpoint: "https://example.com:8443/storage/v1/s3" });
    assert.equal(below.origin + below.pathOf("k"), "https://example.com:8443/storage/v1/s3/bucket/k");
    assert.equal(below.pathOf(), "/storage/v1/s3/bucket");
  });
});

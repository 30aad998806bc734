// Needs its own process: a variable decides where apps keep their files.
// More of how files and images are served, on PostgreSQL and an S3 server, and what else reads or counts them.
import { swiftMissing } from "../../../test/support/swift.ts";

if (swiftMissing === false) {
  process.env["UPSTOW_TEST_STORAGE"] = "s3";
  await import("./delivery.test.ts");
  await import("./delivery-ranges.test.ts");
  await import("./delivery-cdn.test.ts");
  await import("./delivery-sendfile.test.ts");
  await import("./transforms.test.ts");
  await import("./transforms-variants.test.ts");
  await import("./transforms-delivery.test.ts");
  await import("./console-files.test.ts");
  await import("./read-only.test.ts");
  await import("./spec-usage.test.ts");
} else {
  const { it } = await import("node:test");
  it("delivery on PostgreSQL and S3", { skip: swiftMissing }, () => {});
}

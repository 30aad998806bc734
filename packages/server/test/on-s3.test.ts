// What concerns files once more, on PostgreSQL and an S3 server. What moves the service's clock to see uploads expire
// stays on the disk: a bucket goes by its own.
import { swiftMissing } from "../../../test/support/swift.ts";

if (swiftMissing === false) {
  process.env["UPSTOW_TEST_STORAGE"] = "s3";
  await import("./uploads-request.test.ts");
  await import("./uploads-complete.test.ts");
  await import("./uploads-states.test.ts");
  await import("./files-api.test.ts");
  await import("./delivery.test.ts");
  await import("./delivery-ranges.test.ts");
  await import("./transforms-variants.test.ts");
} else {
  const { it } = await import("node:test");
  it("files on PostgreSQL and S3", { skip: swiftMissing }, () => {});
}

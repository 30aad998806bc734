// Needs its own process: a variable decides where apps keep their files.
// More of how files come in and go, on PostgreSQL and an S3 server.
import { swiftMissing } from "../../../test/support/swift.ts";

if (swiftMissing === false) {
  process.env["UPSTOW_TEST_STORAGE"] = "s3";
  await import("./uploads-request.test.ts");
  await import("./uploads-messages.test.ts");
  await import("./uploads-states.test.ts");
  await import("./uploads-abandoned.test.ts");
  await import("./content-checks.test.ts");
  await import("./files-api.test.ts");
  await import("./quota.test.ts");
} else {
  const { it } = await import("node:test");
  it("more of files on PostgreSQL and S3", { skip: swiftMissing }, () => {});
}

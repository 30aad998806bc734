// Needs its own process: a variable decides where apps keep their files.
// How files come in, once more, on PostgreSQL and an S3 server. The files beside this one with `slow` in their names do
// the rest that concerns files; `npm run test:s3` runs all of the API there.
import { swiftMissing } from "../../../test/support/swift.ts";

if (swiftMissing === false) {
  process.env["UPSTOW_TEST_STORAGE"] = "s3";
  await import("./uploads-complete.test.ts");
} else {
  const { it } = await import("node:test");
  it("files on PostgreSQL and S3", { skip: swiftMissing }, () => {});
}

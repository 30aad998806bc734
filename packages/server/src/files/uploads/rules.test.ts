import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GB, MB } from "@upstow/contract";
import type { FileRouteRow } from "../../db/schema.ts";
import { isAllowedType, mediaType } from "./media-type.ts";
import {
  checkFitsPut,
  checkNeedsMultipart,
  checkPartOrder,
  checkPartRange,
  checkSize,
  checkType,
  partCount,
} from "./rules.ts";

const routeOf = (fields: Partial<FileRouteRow>): FileRouteRow => ({
  id: "r",
  project_id: "p",
  slug: "photos",
  environment: "all",
  allowed_types: "[]",
  max_file_size_bytes: null,
  webhook_url: null,
  access: "public",
  expire_after_days: null,
  claim_within_sec: null,
  keep_location: 0,
  check_content: "off",
  strip_metadata: "off",
  scan: 0,
  scan_unknown: "refuse",
  form_origins: "[]",
  created_at: 0,
  updated_at: 0,
  ...fields,
});
const orderOf = (numbers: number[]) => () => checkPartOrder(numbers.map((partNumber) => ({ partNumber })));

describe("the rules of an upload", () => {
  it("compare types without case and parameters, one by one, by family and all", () => {
    assert.equal(mediaType(" Image/PNG ; q=1"), "image/png");
    assert.ok(isAllowedType([], "any/thing"));
    assert.ok(isAllowedType(["text/plain", "Image/*"], "image/PNG; q=1"));
    assert.ok(isAllowedType(["*/*"], "x/y"));
    assert.ok(!isAllowedType(["image/*"], "imagex/png"));
    assert.ok(!isAllowedType(["text/plain"], "text/html; text/plain"));
  });

  it("refuse a type that the route does not name, and say which it does", () => {
    const route = routeOf({ allowed_types: '["image/png","image/jpeg"]' });
    checkType(route, "image/PNG");
    assert.throws(() => checkType(route, "Text/HTML; a=b"), {
      code: "INVALID_FILE_TYPE",
      message: /"photos" does not accept text\/html\./,
      suggestion: "Accepted: image/png, image/jpeg.",
    });
  });

  it("hold the smaller of the route's and the tier's largest size, to the byte", () => {
    const narrow = routeOf({ max_file_size_bytes: 100 });
    checkSize(narrow, "pro", 100);
    const code = "TIER_LIMIT_EXCEEDED";
    assert.throws(() => checkSize(narrow, "pro", 101), {
      code,
      suggestion: "Send a smaller file, or raise the route's maxFileSize.",
    });
    const wide = routeOf({ max_file_size_bytes: 100 * MB });
    checkSize(wide, "free", 4 * MB);
    assert.throws(() => checkSize(wide, "free", 4 * MB + 1), {
      code,
      suggestion: /'upstow account set-tier'/,
    });
    checkSize(routeOf({}), "enterprise", 10 * GB);
    assert.throws(() => checkSize(routeOf({}), "enterprise", 10 * GB + 1), {
      code,
      suggestion: "Send a smaller file.",
    });
  });

  it("draw the lines between the two flows to the byte", () => {
    checkFitsPut(5 * GB, 5 * GB);
    assert.throws(() => checkFitsPut(5 * GB + 1, 5 * GB), { code: "VALIDATION_ERROR", message: /multipart/ });
    checkFitsPut(10 * GB, Number.POSITIVE_INFINITY);
    checkNeedsMultipart(10 * MB + 1);
    assert.throws(() => checkNeedsMultipart(10 * MB), { code: "FILE_TOO_SMALL_FOR_MULTIPART" });
    assert.deepEqual([10 * MB, 10 * MB + 1, 15 * MB].map(partCount), [2, 3, 3]);
  });

  it("take part numbers in ascending order, each once, and say what is wrong with others", () => {
    for (const numbers of [[1], [2], [1, 2, 3], [1, 3, 2048]]) orderOf(numbers)();
    assert.throws(orderOf([]), { code: "VALIDATION_ERROR", message: /at least one part/ });
    assert.throws(orderOf([1, 2, 2]), { code: "VALIDATION_ERROR", message: /lists part 2 twice/ });
    assert.throws(orderOf([1, 3, 2]), { code: "VALIDATION_ERROR", message: /ascending order/ });
  });

  it("take the part numbers that the size gives, and name the first one beyond", () => {
    checkPartRange("parts", [1, 2, 3], 15 * MB);
    checkPartRange("parts", [], 15 * MB);
    for (const [numbers, outside] of [
      [[1, 4, 5], 4],
      [[3, 0], 0],
      [[-1], -1],
    ] as const)
      assert.throws(() => checkPartRange("partNumbers", numbers, 15 * MB), {
        code: "VALIDATION_ERROR",
        message: new RegExp(`^partNumbers lists part ${outside}; this upload has parts 1 to 3$`),
      });
  });
});

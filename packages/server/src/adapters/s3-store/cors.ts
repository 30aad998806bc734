import type { CorsCalls, CorsRule } from "./cors-calls.ts";

/** What browsers need to PUT to presigned URLs and to read the etag of a part. */
export const uploadCorsRule: CorsRule = {
  allowedOrigins: ["*"],
  allowedMethods: ["PUT", "GET", "HEAD"],
  allowedHeaders: ["*"],
  exposeHeaders: ["ETag"],
  maxAgeSec: 86_400,
};

/** Whether any page may upload. A bucket open only to some origins is the operator's choice, and shows here. */
export function allowsUploads(rules: CorsRule[]): boolean {
  return rules.some(
    (rule) =>
      rule.allowedOrigins.includes("*") &&
      rule.allowedMethods.includes("PUT") &&
      rule.allowedHeaders.some((header) => ["*", "content-type"].includes(header.toLowerCase())) &&
      rule.exposeHeaders.some((header) => header.toLowerCase() === "etag"),
  );
}

/** Adds our rule to those that are there. */
export async function openToUploads(cors: CorsCalls): Promise<void> {
  const rules = await cors.getRules();
  if (!allowsUploads(rules)) await cors.setRules([...rules, uploadCorsRule]);
}

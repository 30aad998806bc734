import { hash } from "node:crypto";
import type { S3Calls } from "./s3-call.ts";
import { isMissing } from "./s3-error.ts";
import { childrenOf, escapeXml, type XmlElement } from "./xml.ts";

export interface CorsRule {
  allowedOrigins: string[];
  allowedMethods: string[];
  allowedHeaders: string[];
  exposeHeaders: string[];
  maxAgeSec: number | null;
}

export interface CorsCalls {
  /** Empty where the bucket has none. */
  getRules(): Promise<CorsRule[]>;
  setRules(rules: CorsRule[]): Promise<void>;
}

const lists = [
  ["AllowedOrigin", "allowedOrigins"],
  ["AllowedMethod", "allowedMethods"],
  ["AllowedHeader", "allowedHeaders"],
  ["ExposeHeader", "exposeHeaders"],
] as const;

export function createCorsCalls({ call }: S3Calls): CorsCalls {
  return {
    async getRules() {
      try {
        const { xml } = await call({ method: "GET", query: { cors: "" } });
        return xml === null ? [] : childrenOf(xml, "CORSRule").map(toRule);
      } catch (error) {
        if (isMissing(error)) return [];
        throw error;
      }
    },

    async setRules(rules) {
      const body = `<CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${rules.map(toXml).join("")}</CORSConfiguration>`;
      const headers = { "content-type": "application/xml", "content-md5": hash("md5", body, "base64") };
      await call({ method: "PUT", query: { cors: "" }, headers, body });
    },
  };
}

function toRule(xml: XmlElement): CorsRule {
  const texts = (name: string) => childrenOf(xml, name).map((child) => child.text.trim());
  const [maxAge] = texts("MaxAgeSeconds");
  return {
    allowedOrigins: texts("AllowedOrigin"),
    allowedMethods: texts("AllowedMethod"),
    allowedHeaders: texts("AllowedHeader"),
    exposeHeaders: texts("ExposeHeader"),
    maxAgeSec: maxAge === undefined ? null : Number(maxAge),
  };
}

function toXml(rule: CorsRule): string {
  const items = lists.flatMap(([tag, field]) =>
    rule[field].map((text) => `<${tag}>${escapeXml(text)}</${tag}>`),
  );
  const maxAge = rule.maxAgeSec === null ? "" : `<MaxAgeSeconds>${rule.maxAgeSec}</MaxAgeSeconds>`;
  return `<CORSRule>${items.join("")}${maxAge}</CORSRule>`;
}

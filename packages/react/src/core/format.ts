import type { Labels } from "./labels.ts";
import type { Limits, Rules, UploadItem } from "./types.ts";

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** Such as `4.2 MB`, formatted for the locale; 1 MB is 1,048,576 bytes. */
export function formatBytes(bytes: number, locale?: string): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: units[step] ?? "byte",
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: step > 1 ? 1 : 0,
  }).format(bytes / 1024 ** step);
}

/** Such as `42%`; `share` is from 0 to 1. */
export function formatPercent(share: number, locale?: string): string {
  return new Intl.NumberFormat(locale, { style: "percent" }).format(share);
}

export function formatSeconds(seconds: number, locale?: string): string {
  const isLong = seconds >= 90;
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: isLong ? "minute" : "second",
    unitDisplay: "short",
    maximumFractionDigits: 0,
  }).format(isLong ? seconds / 60 : seconds);
}

/** A file's state in words. */
export function describeStatus(
  { status, waitSeconds }: Pick<UploadItem, "status" | "waitSeconds">,
  labels: Labels,
  locale?: string,
): string {
  return waitSeconds === null ? labels.status[status] : labels.waiting(formatSeconds(waitSeconds, locale));
}

/** The rules to show users beforehand, such as `Images, PDF · up to 4 MB each`. */
export function describeRules(rules: Rules, labels: Labels, locale?: string): string {
  const { allowedTypes, limits = {}, ...ofAll } = rules;
  const name = (type: string) => (type === "*/*" ? "" : typeName(type, labels));
  const join = (parts: string[], separator: string) =>
    [...new Set(parts.filter((part) => part !== ""))].join(separator);
  const say = ({ maxFileSize, maxFileCount }: Limits) => [
    maxFileSize === null
      ? ""
      : `${labels.upTo(formatBytes(maxFileSize, locale))}${maxFileCount === 1 ? "" : ` ${labels.each}`}`,
    maxFileCount === null || maxFileCount === 1 ? "" : labels.atMost(maxFileCount),
  ];
  if (allowedTypes.some((type) => limits[type] !== undefined)) {
    const describe = (type: string) => {
      const [size = "", count = ""] = say(limits[type] ?? ofAll);
      return join([`${name(type)} ${size}`.trim(), count], ", ");
    };
    return join(allowedTypes.map(describe), " · ");
  }
  return toSentenceCase(join([join(allowedTypes.map(name), ", "), ...say(ofAll)], " · "), locale);
}

const toSentenceCase = (text: string, locale?: string) =>
  text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

export function typeName(type: string, labels: Labels): string {
  const [family = "", name = ""] = type.split("/");
  return (
    labels.types[type] ?? (name === "*" ? labels.types[family] : undefined) ?? (name || type).toUpperCase()
  );
}

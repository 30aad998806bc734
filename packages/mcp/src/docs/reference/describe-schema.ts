import type { JsonSchema } from "./api-document.ts";

export interface FieldRow {
  /** Dotted, with `[]` after lists: `files[].id`. */
  name: string;
  type: string;
  isRequired: boolean;
  about: string;
}

/** Every field of a body as one flat list: readers look for names, not for nesting. */
export function listFields(schema: JsonSchema, prefix = ""): FieldRow[] {
  // A body that may also be left out is an object or nothing.
  const { properties = {}, required } = schema.anyOf?.find((option) => option.properties) ?? schema;
  return Object.entries(properties).flatMap(([name, field]) => {
    const row = {
      name: prefix + name,
      type: describeType(field),
      isRequired: required?.includes(name) ?? false,
      about: [describeRange(field), field.description ?? ""].filter((text) => text !== "").join("; "),
    };
    if (field.type === "array" && field.items?.properties !== undefined) {
      return [row, ...listFields(field.items, `${prefix}${name}[].`)];
    }
    return [row, ...listFields(field, `${prefix}${name}.`)];
  });
}

export function describeType(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeType).join(" or ");
  const types = [schema.type ?? "any"].flat();
  return types
    .map((type) =>
      type === "array" && schema.items !== undefined ? `list of ${describeType(schema.items)}` : type,
    )
    .join(" or ");
}

/** A value's constraints besides its type. */
export function describeRange(schema: JsonSchema): string {
  const parts = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    schema.default === undefined ? "" : `default: \`${schema.default}\``,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  // The largest integer that JSON carries is no rule of ours.
  const end = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (least === undefined && end === undefined) return "";
  if (end === undefined && unit === " characters") return least === 1 ? "not empty" : "";
  if (end === undefined) return least === 0 ? "" : `at least ${least}${unit}`;
  return least === undefined ? `at most ${end}${unit}` : `${least} to ${end}${unit}`;
}

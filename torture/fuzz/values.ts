import type { Choice } from "./choice.ts";
import { hostileValue } from "./hostile.ts";
import type { Schema } from "./operations.ts";

/** Gives a fitting value for a named field, such as an id that exists; undefined leaves it to the schema. */
export type Known = (name: string) => unknown;

export function validValue(schema: Schema, name: string, choice: Choice, known: Known): unknown {
  const fitting = known(name);
  if (fitting !== undefined) return fitting;
  if (schema.enum !== undefined) return choice.pick(schema.enum);
  const type = Array.isArray(schema.type) ? choice.pick(schema.type) : schema.type;
  switch (type) {
    case "integer":
    case "number":
      return validNumber(schema, choice);
    case "boolean":
      return choice.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from({ length: Math.max(schema.minItems ?? 0, choice.int(0, 3)) }, () =>
        validValue(schema.items ?? {}, name, choice, known),
      );
    case "object":
      return validObject(schema, choice, known);
    default:
      return validText(schema, choice);
  }
}

export function validObject(schema: Schema, choice: Choice, known: Known): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (schema.required?.includes(name) !== true && choice.chance(0.5)) continue;
    value[name] = validValue(property, name, choice, known);
  }
  return value;
}

function validNumber({ minimum = 0, maximum = 1_000_000 }: Schema, choice: Choice): number {
  return choice.chance(0.2)
    ? choice.pick([minimum, maximum])
    : choice.int(minimum, Math.min(maximum, minimum + 2_000));
}

function validText(schema: Schema, choice: Choice): string {
  if (schema.format === "date-time") return new Date(Date.now() - choice.int(0, 9e8)).toISOString();
  const { minLength = 0, maxLength = 40 } = schema;
  const length = choice.chance(0.1) ? maxLength : choice.int(Math.max(1, minLength), Math.min(20, maxLength));
  const alphabet =
    schema.pattern === undefined && choice.chance(0.3) ? [..."aé漢😀 .'\"<&/\\"] : [..."abcXYZ019_-"];
  return Array.from({ length }, () => choice.pick(alphabet)).join("");
}

/** Valid but for one thing: a field that is missing, of another kind, at a limit or unknown. */
export function nearValidObject(schema: Schema, choice: Choice, known: Known): Record<string, unknown> {
  const value = validObject(schema, choice, known);
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return { [choice.pick(["status", "projectId", "x"])]: hostileValue(choice) };
  const name = choice.pick(names);
  const property = schema.properties?.[name] ?? {};
  switch (choice.int(0, 4)) {
    case 0:
      delete value[name];
      break;
    case 1:
      value[name] = beyondLimit(property, choice);
      break;
    case 2:
      value[choice.pick(["status", "projectId", "size", "url", "id", "accountId", "tier"])] =
        hostileValue(choice);
      break;
    default:
      value[name] = hostileValue(choice);
  }
  return value;
}

function beyondLimit(schema: Schema, choice: Choice): unknown {
  const { minimum = 0, maximum = 2 ** 53 - 1, maxLength = 5_000, maxItems = 200, minLength = 1 } = schema;
  switch (schema.type) {
    case "integer":
      return choice.pick([minimum - 1, maximum + 1, minimum + 0.5, String(minimum)]);
    case "array":
      return choice.pick([[], Array.from({ length: maxItems + 1 }, () => hostileValue(choice, 4))]);
    case "string":
      return choice.pick([
        "a".repeat(maxLength + 1),
        "a".repeat(Math.max(0, minLength - 1)),
        "😀".repeat(maxLength),
      ]);
    default:
      return hostileValue(choice);
  }
}

/** A JSON schema, as far as it is looked at here. */
export interface Schema {
  /** `bounded: …` says why a schema that takes anything is bounded all the same. */
  $comment?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** Every place in a schema where a caller could send any amount. */
export function findUnbounded(schema: Schema, path: string): string[] {
  if (schema.$comment?.startsWith("bounded: ")) return [];
  if (schema.enum !== undefined || schema.const !== undefined) return [];
  const parts = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) => some ?? []);
  if (parts.length > 0) return parts.flatMap((part) => findUnbounded(part, path));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return [`${path} may be anything`];
  return types.flatMap((type) => findOfType(schema, type, path));
}

function findOfType(schema: Schema, type: string, path: string): string[] {
  const missing = neededBy(schema, type).filter((bound) => schema[bound] === undefined);
  return [
    ...missing.map((bound) => `${path} has no ${bound}`),
    ...(type === "array" ? findUnbounded(schema.items ?? {}, `${path}[]`) : []),
    ...partsOf(schema).flatMap(([name, part]) => findUnbounded(part, `${path}.${name}`)),
  ];
}

/** Unknown properties are ignored, but an object of which none is known is there to be taken whole. */
const isOpen = ({ properties, required }: Schema & { required?: string[] }): boolean =>
  Object.keys(properties ?? {}).length === 0 && required === undefined;

/** Of an object: what it holds by name, and under any other name. */
function partsOf({ properties, patternProperties, additionalProperties }: Schema): [string, Schema][] {
  const others = Object.values(patternProperties ?? {});
  if (typeof additionalProperties === "object") others.push(additionalProperties);
  return [...Object.entries(properties ?? {}), ...others.map((part): [string, Schema] => ["*", part])];
}

function neededBy(schema: Schema, type: string): (keyof Schema)[] {
  if (type === "string") return ["maxLength"];
  if (type === "integer" || type === "number")
    return [schema.exclusiveMinimum === undefined ? "minimum" : "exclusiveMinimum", "maximum"];
  if (type === "array") return ["maxItems"];
  const takesAnyKey =
    schema.patternProperties !== undefined || (schema.additionalProperties ?? isOpen(schema)) !== false;
  return type === "object" && takesAnyKey ? ["maxProperties"] : [];
}

import type { Type as TypeBox } from "typebox";

/**
 * TypeBox's types on top of builders that return plain JSON Schema. Loading the library itself would cost 100 ms and
 * 15 MB at every start, for functions that each return one object.
 */
type Builders = Pick<
  typeof TypeBox,
  | "Array"
  | "Boolean"
  | "Integer"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "Partial"
  | "Record"
  | "String"
  | "Union"
  | "Unknown"
  | "Unsafe"
>;
type Schema = Record<PropertyKey, unknown>;
type Properties = Record<string, Schema>;

const isOptional = Symbol("optional");

const plain = (type: string) => (options?: Schema) => ({ type, ...options });
const optional = (schema: Schema) => ({ ...schema, [isOptional]: true });

function object(properties: Properties, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => properties[name]?.[isOptional] !== true);
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
}

function partial({ properties }: { properties: Properties }): Schema {
  return object(
    Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optional(schema)])),
  );
}

const builders = {
  Array: (items: Schema, options?: Schema) => ({ type: "array", items, ...options }),
  Boolean: plain("boolean"),
  Integer: plain("integer"),
  Null: plain("null"),
  Number: plain("number"),
  Object: object,
  Optional: optional,
  Partial: partial,
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: "object",
    additionalProperties: Object.keys(value).length === 0 ? true : value,
    ...options,
  }),
  String: plain("string"),
  Union: (anyOf: Schema[], options?: Schema) => ({ anyOf, ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
};

const Type = builders as unknown as Builders;
export default Type;

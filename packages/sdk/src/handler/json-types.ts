/** A value after a JSON round trip: a Date becomes a string, functions disappear. */
export type Jsonified<Value> = Value extends string | number | boolean | null
  ? Value
  : Value extends { toJSON(): infer Json }
    ? Json
    : Value extends undefined | symbol | ((...args: never) => unknown)
      ? undefined
      : Value extends readonly unknown[]
        ? { [Index in keyof Value]: Jsonified<Value[Index]> }
        : Value extends object
          ? { [Key in keyof Value]: Jsonified<Value[Key]> }
          : unknown;

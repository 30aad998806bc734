export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface DescribedOperation {
  parameters?: Parameter[];
  security?: unknown[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** One call of the API, as its own document describes it. */
export interface Operation {
  /** `POST /upload/request` */
  name: string;
  method: string;
  path: string;
  isPublic: boolean;
  query: Parameter[];
  body: Schema | null;
  responses: DescribedOperation["responses"];
}

export function listOperations(document: ApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path.replace("/api/v1", "")}`,
      method: method.toUpperCase(),
      path,
      isPublic: described.security?.length === 0,
      query: (described.parameters ?? []).filter((parameter) => parameter.in === "query"),
      body: described.requestBody?.content["application/json"]?.schema ?? null,
      responses: described.responses,
    })),
  );
}

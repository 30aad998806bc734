import type { Answer, TestApp } from "./start-app.ts";

export interface Operation {
  /** As in "POST /api/v1/upload/request". */
  name: string;
  path: string;
  needsKey: boolean;
  /** With ids that name nothing and an empty body. */
  call(key?: string): Promise<Answer>;
}

/** Every operation that the service describes, to be called with nothing in particular. */
export async function listOperations(app: TestApp): Promise<Operation[]> {
  const { paths } = (await app.call("GET", "openapi.json")).body;
  return Object.entries(paths as Record<string, Record<string, { security?: unknown[] }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([name, { security }]) => {
        const method = name.toUpperCase();
        const target = path.replaceAll(/\{\w+\}/g, "none");
        const body = ["POST", "PATCH"].includes(method) ? {} : undefined;
        return {
          name: `${method} ${path}`,
          path,
          needsKey: security?.length !== 0,
          call: (key?: string) => app.call(method, target, { body, ...(key === undefined ? {} : { key }) }),
        };
      }),
  );
}

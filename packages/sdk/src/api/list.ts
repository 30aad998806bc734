import type { Page } from "../wire/files.ts";
import type { Request, RequestOptions } from "./request.ts";

/** Await it for one page, or use `for await` to iterate over every item of every page. */
export type List<Key extends string, Item> = Promise<Page<Key, Item>> & AsyncIterable<Item>;

export function list<Key extends string, Item>(
  request: Request,
  path: string,
  key: Key,
  query: object | undefined,
  options: RequestOptions | undefined,
): List<Key, Item> {
  const getPage = (cursor: object) =>
    request<Page<Key, Item>>("GET", path, options, undefined, { ...query, ...cursor });
  const first = getPage({});
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let page = await first; ; page = await getPage({ cursor: page.nextCursor })) {
        yield* page[key];
        if (!page.hasMore) return;
      }
    },
  });
}

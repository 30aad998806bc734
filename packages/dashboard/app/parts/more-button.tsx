import type { Pages } from "../load.ts";
import { Failure } from "./states.tsx";

export function MoreButton({
  list,
}: {
  list: Pick<Pages<unknown>, "error" | "hasMore" | "isLoading" | "loadMore">;
}) {
  if (list.error !== null) return <Failure error={list.error} retry={list.loadMore} />;
  if (!list.hasMore) return null;
  return (
    <p className="more">
      <button type="button" disabled={list.isLoading} onClick={list.loadMore}>
        {list.isLoading ? "Loading …" : "Show more"}
      </button>
    </p>
  );
}

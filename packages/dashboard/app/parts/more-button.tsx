import type { Pages } from "../load.ts";
import { Failure } from "./states.tsx";

export function MoreButton({
  list,
}: {
  list: Pick<Pages<unknown>, "hasMore" | "isLoading" | "loadMore" | "moreError">;
}) {
  if (list.moreError !== null) return <Failure error={list.moreError} retry={list.loadMore} />;
  if (!list.hasMore) return null;
  return (
    <p className="more">
      <button type="button" disabled={list.isLoading} onClick={list.loadMore}>
        {list.isLoading ? "Loading…" : "Show more"}
      </button>
    </p>
  );
}

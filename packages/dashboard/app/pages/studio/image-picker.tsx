import { useEffect, useState } from "react";
import { Filters, SearchBox } from "../../parts/filters.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { Thumbnail } from "../files/file-row-parts.tsx";
import type { FoundFile } from "../files/found-file.ts";
import { useFileSearch } from "../files/use-file-search.ts";

export function ImagePicker({ onPick }: { onPick: (key: string) => void }) {
  const { api } = useWorkspace();
  const [name, setName] = useState("");
  const query = new URLSearchParams({ type: "image/", status: "UPLOADED", limit: "60", name });
  const search = useFileSearch(`${api}/search?${query}`);
  const images = search.files.filter(isImage);
  // A page may contain only images that have no variants.
  const mustLookOn = images.length === 0 && search.hasMore;
  useEffect(() => {
    if (mustLookOn) search.loadMore();
  });
  return (
    <>
      <Filters>
        <SearchBox label="Search images by name" value={name} onChange={setName} />
      </Filters>
      {search.error !== null && <Failure error={search.error} retry={search.retry} />}
      {images.length > 0 ? (
        <>
          <ul className="pick">
            {images.map((file) => (
              <li key={file.id}>
                <button type="button" title={showHidden(file.name)} onClick={() => onPick(file.key)}>
                  <Thumbnail file={file} className="" />
                  <span className="cut">
                    <SafeText text={file.name} />
                  </span>
                </button>
              </li>
            ))}
          </ul>
          {search.error === null && <MoreButton list={{ ...search, moreError: null }} />}
        </>
      ) : (
        <NoImages
          isLoading={search.isLoading || mustLookOn || search.files.some((file) => file.isThumbnailDue)}
          hasFailed={search.error !== null}
          name={name}
        />
      )}
    </>
  );
}

function NoImages({ isLoading, hasFailed, name }: { isLoading: boolean; hasFailed: boolean; name: string }) {
  const { urlOf } = useWorkspace();
  if (hasFailed) return null;
  if (isLoading) return <Loading />;
  return (
    <Empty title={name === "" ? "No images yet" : "No matching images"}>
      <p>JPEG, PNG, WebP, GIF and AVIF files of this environment appear here.</p>
      {name === "" && (
        <Link className="button" to={urlOf("files")}>
          Upload images
        </Link>
      )}
    </Empty>
  );
}

function isImage(file: FoundFile): file is FoundFile & { thumbnailUrl: string } {
  return file.thumbnailUrl !== null;
}

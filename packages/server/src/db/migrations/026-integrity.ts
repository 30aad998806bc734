/**
 * `file_damage` has the files whose bytes were found missing or changed; each walk over all files forgets those that it
 * does not find again. `store_etag` is the bucket's own ETag of an object that keeps another one towards its readers,
 * because it came from the disk.
 */
export const integrity = `
CREATE TABLE file_damage (
  file_id TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  found_at BIGINT NOT NULL
);
ALTER TABLE file ADD COLUMN store_etag TEXT;
ALTER TABLE variant ADD COLUMN store_etag TEXT;
ALTER TABLE relocated_object ADD COLUMN etag TEXT;
`;

/** The bytes of small blobs. A blob never changes; only whole rows come and go. */
export const smallBlobs = `
CREATE TABLE disk_small_blob (
  blob TEXT PRIMARY KEY,
  bytes BLOB NOT NULL
);
`;

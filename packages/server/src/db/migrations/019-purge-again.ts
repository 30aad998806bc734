/** A deletion whose bytes are gone and that only has to be told to the CDN, again. */
export const purgeAgain = `
ALTER TABLE storage_deletion ADD COLUMN bytes_gone INTEGER NOT NULL DEFAULT 0 CHECK (bytes_gone IN (0, 1));
`;

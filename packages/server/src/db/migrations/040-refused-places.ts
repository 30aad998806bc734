/** How many places a grant got back because the content of their files was rejected. */
export const refusedPlaces = `
ALTER TABLE upload_grant ADD COLUMN refused_files BIGINT NOT NULL DEFAULT 0;
`;

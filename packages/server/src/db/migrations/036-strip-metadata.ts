export const stripMetadata = `
ALTER TABLE file_route ADD COLUMN strip_metadata TEXT NOT NULL DEFAULT 'off';
`;

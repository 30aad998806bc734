/** A domain that a project's files are given out at; null for the installation's own. */
export const cdnDomain = `
ALTER TABLE project ADD COLUMN cdn_url TEXT;
`;

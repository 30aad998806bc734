/** The grant whose place an upload has taken. Null for keys, and for uploads that were opened before. */
export const grantOfUpload = `
ALTER TABLE resumable_upload ADD COLUMN grant_id TEXT;
`;

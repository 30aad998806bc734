export const inspection = `
ALTER TABLE file_route ADD COLUMN check_content TEXT NOT NULL DEFAULT 'off';
ALTER TABLE file ADD COLUMN detected_type TEXT;
`;

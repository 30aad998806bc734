/** Where a form's `success_redirect` may lead, as a JSON list of origins. */
export const formOrigins = `
ALTER TABLE file_route ADD COLUMN form_origins TEXT NOT NULL DEFAULT '[]';
`;

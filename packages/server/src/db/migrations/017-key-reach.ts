/** How far a key reaches: all projects of its account, or, made by a member of one project, that project alone. */
export const keyReach = `
ALTER TABLE api_key ADD COLUMN reach TEXT NOT NULL DEFAULT 'account' CHECK (reach IN ('account', 'project'));
`;

/**
 * An account made by an invitation has an address that nobody proved to own, and owns no projects until the operator
 * sets its tier. Accounts from before keep what they have. A custom domain belongs to one project: of several that
 * claim the same one, the oldest keeps it. Deleted projects keep theirs, because their files are still served there.
 */
export const peopleAndDomains = `
ALTER TABLE account ADD COLUMN email_verified INTEGER NOT NULL DEFAULT 1 CHECK (email_verified IN (0, 1));
ALTER TABLE account ADD COLUMN may_own_projects INTEGER NOT NULL DEFAULT 1 CHECK (may_own_projects IN (0, 1));
UPDATE project SET cdn_url = NULL
WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM project older
  WHERE older.cdn_url = project.cdn_url AND older.deleted_at IS NULL AND older.id < project.id);
CREATE UNIQUE INDEX project_custom_domain ON project (cdn_url) WHERE deleted_at IS NULL;
CREATE INDEX project_bound_host ON project (cdn_url) WHERE cdn_url IS NOT NULL;
CREATE INDEX invitation_by_account ON invitation (invited_by);
`;

/** How many routes a project has, so that its limit holds under concurrent creation. */
export const bounds = `
ALTER TABLE project ADD COLUMN route_count BIGINT NOT NULL DEFAULT 0 CHECK (route_count >= 0);
UPDATE project SET route_count = (SELECT count(*) FROM file_route WHERE file_route.project_id = project.id);
`;

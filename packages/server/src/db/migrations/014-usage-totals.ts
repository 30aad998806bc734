/** A project has its totals from its first day, so that its first uploads need not agree on who makes them. */
export const usageTotals = `
INSERT INTO usage_total (project_id, environment)
  SELECT id, 'live' FROM project WHERE true ON CONFLICT DO NOTHING;
INSERT INTO usage_total (project_id, environment)
  SELECT id, 'test' FROM project WHERE true ON CONFLICT DO NOTHING;
`;

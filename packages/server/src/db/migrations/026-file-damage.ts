/** Files whose bytes were found missing or changed. Each walk over all files notes what it finds, and forgets the rest. */
export const fileDamage = `
CREATE TABLE file_damage (
  file_id TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  found_at BIGINT NOT NULL
);
`;

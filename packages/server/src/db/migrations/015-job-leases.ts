/** Who does what one instance does for all. The token grows with every holder, so that a former one can be told apart. */
export const jobLeases = `
CREATE TABLE job_lease (
  name TEXT PRIMARY KEY,
  token BIGINT NOT NULL,
  held_until BIGINT NOT NULL
);
`;

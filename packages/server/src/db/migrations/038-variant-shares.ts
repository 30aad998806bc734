/** Whose variants fill the cache. What was rendered before counts as one account without a name. */
export const variantShares = `
ALTER TABLE variant ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
`;

export const variantIndexes = [
  {
    name: "variant_of_account",
    sql: "CREATE INDEX variant_of_account ON variant (account_id, used_at, size_bytes) WHERE state = 'ready';",
  },
  {
    name: "variant_failed",
    sql: "CREATE INDEX variant_failed ON variant (lease_until) WHERE state = 'failed';",
  },
];

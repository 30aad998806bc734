/**
 * For every row that is written, SQLite fills a table in memory with the values of a check by IN, from three of them
 * on; comparing with each costs next to nothing. SQLite allows to change the text of a check in place, which takes no
 * time however many rows there are.
 */
export const plainChecks = `
PRAGMA writable_schema = ON;
UPDATE sqlite_schema
SET sql = replace(sql, 'state IN (''open'', ''final'', ''gone'')', 'state = ''open'' OR state = ''final'' OR state = ''gone''')
WHERE type = 'table' AND name = 'disk_object';
UPDATE sqlite_schema
SET sql = replace(
  sql,
  'state IN (''recorded'', ''ready'', ''leased'', ''delivered'', ''dead'')',
  'state = ''recorded'' OR state = ''ready'' OR state = ''leased'' OR state = ''delivered'' OR state = ''dead'''
)
WHERE type = 'table' AND name = 'webhook_message';
PRAGMA writable_schema = RESET;
`;

/** What the end of each run says of the statements that SQLite was given. */
import { describe, expect, it } from 'vitest';
import { forPostgres, isOfBoth, refusedBy, shapeOf } from './statements.ts';
import { newStoreUrl } from './stores.ts';

const statement = (sql: string, ...parameters: readonly unknown[]) => ({ sql, parameters, test: 'a.test.ts > reads' });

describe('a statement that SQLite was given', () => {
  it('has the placeholders and the lists of PostgreSQL there', () => {
    const read = 'select 1 from "kv" where "value" > ? and "key" in (select value from json_each(?))';
    expect(forPostgres(statement(read, 7, '["a","b"]'))).toEqual({
      text: 'select 1 from "kv" where "value" > $1 and "key" in (select value from unnest(cast($2 as text[])) as value)',
      values: [7, ['a', 'b']],
    });
  });

  it('is of one shape with those that differ in the length of a list, and of none where only one engine is asked so', () => {
    expect(shapeOf('select 1 where a in (?, ?, ?) and b = ?')).toBe(shapeOf('select 1 where a in (?) and b = ?'));
    expect(isOfBoth('create table a (b text)')).toBe(false);
    expect(isOfBoth("select data ->> '$.type' from filing")).toBe(false);
  });

  it('is refused, with its test, for a name, a type or its form, and taken though a row that it needs is not there', async () => {
    const url = await newStoreUrl('postgres');
    const refused = await refusedBy(url, [
      statement('select "value" from "kv" where "key" = ?', 'a'),
      statement('insert into "match_key" ("key", "entry") values (?, ?)', 7, null),
      statement('select "worth" from "kv" where "key" = ?', 'a'),
      statement('select "key" from "kv" group by "value"'),
      statement('update "lane" set "due_at" = ?', 'soon'),
    ]);
    expect(refused).toEqual([
      expect.stringContaining('column "worth" does not exist'),
      expect.stringContaining('must appear in the GROUP BY clause'),
      expect.stringContaining('invalid input syntax for type bigint'),
    ]);
    for (const text of refused) expect(text).toContain('in a.test.ts > reads');
  });
});

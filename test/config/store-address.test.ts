import { describe, expect, it } from 'vitest';
import { connectorWith, problemsOf } from '../support/config.ts';

const problems = (store: string) => problemsOf({ ...connectorWith(), store });

describe('the setting `store`', () => {
  it.each([
    ['mysql://root:sesame@db/cvr', /^store begins with "mysql:", which names no store of cvrsync: .*postgres:\/\/user/],
    [
      'POSTGRES://u:sesame@db/cvr',
      /^store begins with "POSTGRES:".* write postgres:\/\/user:password@host:5432\/cvrsync$/,
    ],
    ['postgres:db/cvr', /write postgres:\/\//],
    ['postgresql:/db/cvr', /write postgres:\/\//],
    ['jdbc:postgresql://db/cvr?password=sesame', /^store begins with "jdbc:".* write postgres:\/\//],
    ['postgresql+psycopg2://u:sesame@db/cvr', /names no store of cvrsync/],
    ['host=db dbname=cvr password=sesame', /is a list of keywords.* write postgres:\/\//],
    ['sqlite:///data/cvrsync.db', /^store begins with "sqlite:": write the path alone/],
    ['file:data/cvrsync.db', /write the path alone/],
    ['postgres://u:ses:a/me@db:x/cvr', /cannot be read as an address: .*%40 for an @/],
  ])('written as %s is refused, with the right spelling and without a secret', async (store, expected) => {
    const [problem, ...more] = await problems(store);
    expect([problem, more]).toEqual([expect.stringMatching(expected), []]);
    expect(problem).not.toMatch(/sesame|me@db/);
  });

  it.each([
    'data/cvrsync.db',
    'C:\\data\\cvrsync.db',
    './odd:name.db',
    'postgres://u:p%40ss@db:5432/cvr?sslmode=require',
    'postgresql://u@/cvr?host=/run/postgresql',
    'postgres:///cvr?host=%2Frun%2Fpostgresql',
  ])('may be %s', async (store) => expect(await problems(store)).toEqual([]));
});

import { describe, expect, it } from 'vitest';
import {
  addItemQuery,
  itemsPath,
  jobItemsPath,
  pageQuery,
  readErrorMessage,
  readItems,
  readJobs,
  removeItemQuery,
} from '../../src/protocol/api.ts';

const item = { entityId: 'CVR-1-99000015', id: '701' };

describe('paths and queries', () => {
  it('are those of the specification, with their parts encoded', () => {
    expect(itemsPath('hubspot')).toBe('/apps/monitoring/jobs/thirdparty/hubspot/items');
    expect(itemsPath('a/b?c')).toBe('/apps/monitoring/jobs/thirdparty/a%2Fb%3Fc/items');
    expect(jobItemsPath('job 1')).toBe('/apps/monitoring/jobs/job%201/items');
    expect(pageQuery(500, undefined)).toEqual({ take: '500' });
    expect(pageQuery(500, 'next')).toEqual({ take: '500', continuationToken: 'next' });
  });

  it('asks for an update only where one is wanted', () => {
    expect(addItemQuery(item, true)).toEqual({ ...item, sendUpdate: 'true' });
    expect(addItemQuery(item, false)).toEqual(item);
    expect(removeItemQuery(item)).toEqual(item);
  });
});

describe('a page of items', () => {
  it.each([
    ['a bare list', [item]],
    ['results', { results: [item], other: [] }],
    ['items', { Items: [item], errors: [] }],
    ['the only list', { whatever: [item], total: 1 }],
    ['other spellings', { results: [{ EntityID: 'cvr-1-99000015', ExternalId: 701, created: 'x' }] }],
  ])('is read from %s', (_, json) => {
    expect(readItems(json)).toEqual({ ok: true, entries: [item], skipped: [], continuationToken: undefined });
  });

  it('knows the next page by its token, and the last by an empty one', () => {
    const token = (continuationToken: unknown) => {
      const read = readItems({ results: [], continuationToken });
      return read.ok ? read.continuationToken : 'refused';
    };
    expect([token('abc'), token(7), token(null), token(''), token(undefined)]).toEqual([
      'abc',
      '7',
      undefined,
      undefined,
      undefined,
    ]);
    expect(readItems({ results: [], ContinuationToken: 'abc' })).toMatchObject({ continuationToken: 'abc' });
  });

  it('skips what it cannot read and says which', () => {
    expect(
      readItems([item, null, { id: '1' }, { entityId: 'CVR-1-99000015' }, { ...item, provider: 'hubspot' }]),
    ).toEqual({
      ok: true,
      entries: [item, { ...item, provider: 'hubspot' }],
      skipped: [
        { path: '1', message: 'is not an object' },
        { path: '2', message: 'has no entity id' },
        { path: '3', message: 'has no id of the external system' },
      ],
      continuationToken: undefined,
    });
  });

  it.each([null, 'text', {}, { a: [], b: [] }, { results: null }])(
    'is refused where there is no list to take: %j',
    (json) => {
      expect(readItems(json).ok).toBe(false);
    },
  );
});

describe('other answers', () => {
  it('reads jobs with their id under any of its names', () => {
    expect(readJobs([{ id: 1, name: 'A' }, { JobId: 'x', Name: 'B' }, { jobId: 'y' }])).toMatchObject({
      ok: true,
      entries: [
        { id: '1', name: 'A' },
        { id: 'x', name: 'B' },
        { id: 'y', name: undefined },
      ],
    });
  });

  it('reads the message of an error body where there is one', () => {
    expect(readErrorMessage({ ErrorMessage: 'Too many', httpStatusCode: 429, errorCode: 26 })).toBe('Too many');
    expect(readErrorMessage('<html>')).toBeUndefined();
  });
});

/** The meaning of codes and headers for the whole connection. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  errorsOf,
  faultOf,
  isAboutRecords,
  observe,
  SalesforceRefusal,
} from '../../../../providers/salesforce/client/errors.ts';
import { live, openBench } from '../setup.ts';

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new SalesforceRefusal({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }, 0);
const one = (errorCode: string, message = 'm') => [{ errorCode, message }];
const MINUTE_MS = 60_000;

describe('a refusal of the connection', () => {
  it.each<[string, SalesforceRefusal, string, number | undefined]>([
    [
      'the daily limit',
      answer(403, one('REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.')),
      'rate',
      15 * MINUTE_MS,
    ],
    [
      'the concurrent limit',
      answer(403, one('REQUEST_LIMIT_EXCEEDED', 'ConcurrentPerOrgLongTxn Limit exceeded.')),
      'rate',
      5_000,
    ],
    [
      'a limit of another name',
      answer(403, one('REQUEST_LIMIT_EXCEEDED', 'Something Limit exceeded.')),
      'rate',
      MINUTE_MS,
    ],
    ['a limit that names its time', answer(403, one('REQUEST_LIMIT_EXCEEDED'), { 'retry-after': '9' }), 'rate', 9_000],
    ['a 429', answer(429, ''), 'rate', 10_000],
    ['maintenance', answer(503, one('SERVER_UNAVAILABLE')), 'unavailable', undefined],
    ['maintenance in HTML', answer(503, '<html></html>', { 'retry-after': '30' }), 'unavailable', 30_000],
    ['no route', answer(420, ''), 'unavailable', undefined],
    ['a page instead of an error', answer(404, '<html></html>'), 'unavailable', undefined],
    ['a slow query', answer(400, one('QUERY_TIMEOUT')), 'unavailable', undefined],
    ['a lock on the whole call', answer(400, one('UNABLE_TO_LOCK_ROW')), 'unavailable', undefined],
    ['a session', answer(401, one('INVALID_SESSION_ID')), 'auth', undefined],
    ['an edition without API', answer(403, one('API_DISABLED_FOR_ORG')), 'refused', undefined],
    ['a retired version', answer(410, one('UNSUPPORTED_API_VERSION')), 'refused', undefined],
    ['a field that is not there', answer(400, one('INVALID_FIELD')), 'refused', undefined],
    ['a query of ours', answer(400, one('MALFORMED_QUERY')), 'refused', undefined],
    ['a long address', answer(414, '<html></html>'), 'refused', undefined],
    ['long headers', answer(431, ''), 'refused', undefined],
  ])('for %s', (_label, refused, fault, retryAfterMs) => {
    expect(faultOf(refused)).toMatchObject({ fault, retryAfterMs });
  });

  it('says what to do', () => {
    expect(faultOf(answer(403, one('API_DISABLED_FOR_ORG'))).message).toMatch(/API Enabled/);
    expect(faultOf(answer(410, one('UNSUPPORTED_API_VERSION'))).message).toMatch(/set apiVersion/);
  });

  it('shows nothing of a page', () => {
    const fault = faultOf(answer(500, '<html>token=abc</html>'));
    expect(JSON.stringify([fault.message, fault.cause, String(fault.cause)])).not.toContain('abc');
  });

  it('is about records only if the connection itself is well', () => {
    expect(isAboutRecords(answer(400, one('JSON_PARSER_ERROR')))).toBe(true);
    expect(isAboutRecords(answer(404, one('ENTITY_IS_DELETED')))).toBe(true);
    for (const other of [
      answer(400, one('QUERY_TIMEOUT')),
      answer(403, one('REQUEST_LIMIT_EXCEEDED')),
      answer(404, '<html></html>'),
    ]) {
      expect(isAboutRecords(other)).toBe(false);
    }
  });

  it('reads errors of every shape, and junk as none', () => {
    expect(errorsOf({ error: 'invalid_grant', error_description: 'd' })).toEqual([
      { code: 'invalid_grant', message: 'd', fields: [] },
    ]);
    expect(errorsOf([null, 'x', { message: 'no code' }, { statusCode: 'A', fields: 'F' }])).toEqual([
      { code: 'A', message: '', fields: [] },
    ]);
  });
});

describe('the allowance of the org', () => {
  const usage = (text: string) =>
    observe({ status: 200, headers: { 'sforce-limit-info': text }, body: '' }, { dailyShare: 0.8 });

  it('pauses the connection at its share, by the org and not by the app', () => {
    expect(usage('api-usage=79999/100000')).toBeUndefined();
    expect(usage('api-usage=80000/100000')).toMatchObject({
      pauseMs: 15 * MINUTE_MS,
      reason: expect.stringContaining('80000 of its 100000'),
    });
    expect(usage('api-usage=25/100000; per-app-api-usage=99/100(appName=other)')).toBeUndefined();
    expect(usage('per-app-api-usage=99/100(appName=other), api-usage=25/100000')).toBeUndefined();
  });

  it.each(['', 'api-usage=', 'api-usage=5/0', 'junk'])('says nothing if the header is "%s"', (text) => {
    expect(usage(text)).toBeUndefined();
  });

  it('that is used up is a long wait for the connection', async () => {
    const { connection, clock } = await openBench({ daily: 2, usageJitter: 0 });
    await connection.check(live());
    await connection.properties(live());
    await expect(connection.properties(live())).rejects.toMatchObject({ fault: 'rate', retryAfterMs: 15 * MINUTE_MS });
    clock.now += 25 * 60 * MINUTE_MS;
    await connection.properties(live());
  });

  it('in a window is a short wait', async () => {
    const { connection, clock } = await openBench({ rate: { calls: 2, perMs: 1_000 } });
    await connection.check(live());
    await connection.properties(live());
    await expect(connection.properties(live())).rejects.toMatchObject({ fault: 'rate', retryAfterMs: 5_000 });
    clock.now += 1_000;
    await connection.properties(live());
  });
});

describe('the codes this connection knows', () => {
  it('are codes of Salesforce', async () => {
    const wsdl = await readFile(new URL(import.meta.resolve('jsforce/src/api/soap/wsdl.xml')), 'utf8');
    const sources = await Promise.all(
      [
        'salesforce/client/errors.ts',
        'salesforce/write/decide-update.ts',
        'kit/salesforce/validate.ts',
        'kit/salesforce/records.ts',
        'kit/salesforce/query.ts',
      ].map((file) => readFile(new URL(`../../../../providers/${file}`, import.meta.url), 'utf8')),
    );
    const codes = new Set(sources.join('').match(/(?<=')[A-Z]{3,}(?:_[A-Z]+)+(?=')/g));
    // A status of its own in REST, and one that stands for shapes the parser refuses.
    for (const code of ['NOT_FOUND', 'INVALID_INPUT']) codes.delete(code);
    expect(codes.size).toBeGreaterThan(25);
    expect([...codes].filter((code) => !wsdl.includes(`"${code}"`))).toEqual([]);
  });
});

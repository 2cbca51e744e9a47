import { describe, expect, it } from 'vitest';
import { faultOf, HubspotRefusal, observe } from '../../../../providers/hubspot/client/faults.ts';
import { hubspot } from '../../../../providers/hubspot/provider.ts';
import { settingsOf } from '../setup.ts';

const NOW = Date.parse('2026-06-10T20:30:00Z');
const fault = (
  status: number,
  body: unknown = {},
  headers: Record<string, string> = {},
  timeZone: string | undefined = 'Europe/Copenhagen',
) =>
  faultOf(new HubspotRefusal({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }), {
    now: NOW,
    timeZone,
  });
const limit = (policyName: string) => ({
  status: 'error',
  message: 'You have reached your limit.',
  errorType: 'RATE_LIMIT',
  policyName,
});

describe('a 429', () => {
  it.each<[string, number, Record<string, string>]>([
    ['SECONDLY', 1_000, {}],
    ['TEN_SECONDLY_ROLLING', 10_000, {}],
    ['TEN_SECONDLY_ROLLING', 4_000, { 'x-hubspot-ratelimit-interval-milliseconds': '4000' }],
    ['DAILY', 5_400_000, {}],
    ['A_NEW_ONE', 10_000, {}],
    ['DAILY', 60_000, { 'retry-after': '60' }],
    ['SECONDLY', 30_000, { 'retry-after': 'Wed, 10 Jun 2026 20:30:30 GMT' }],
  ])('of policy %s waits %d ms given %j', (policy, ms, headers) => {
    const error = fault(429, limit(policy), headers);
    expect(error.fault).toBe('rate');
    expect(Math.abs((error.retryAfterMs ?? 0) - ms)).toBeLessThanOrEqual(1_000);
    expect(error.retryAfterMs).toBeGreaterThanOrEqual(ms - 1);
  });

  it.each([undefined, 'Europe/Atlantis'])('of the day waits for an hour if the time zone is %s', (zone) => {
    const answer = new HubspotRefusal({ status: 429, headers: {}, body: JSON.stringify(limit('DAILY')) });
    expect(faultOf(answer, { now: NOW, timeZone: zone }).retryAfterMs).toBe(3_600_000);
  });

  it('without a readable body is still a rate fault', () => {
    expect([fault(429, '').fault, fault(429, '<html>').retryAfterMs]).toEqual(['rate', 10_000]);
  });
});

describe('another refusal', () => {
  it('names the missing scopes', () => {
    const context = { missingScopes: ['crm.objects.companies.write'] };
    const error = fault(403, { category: 'MISSING_SCOPES', errors: [{ message: 'x', context }] });
    expect(error.fault).toBe('refused');
    expect(error.message).toContain('crm.objects.companies.write');
  });

  it.each<[number, Record<string, string>, string, number | undefined]>([
    [401, {}, 'auth', undefined],
    [423, {}, 'locked', 2_000],
    [423, { 'retry-after': '1' }, 'locked', 2_000],
    [423, { 'retry-after': '9' }, 'locked', 9_000],
    [477, { 'retry-after': '3600' }, 'locked', 3_600_000],
    [477, { 'retry-after': '9999999' }, 'locked', 86_400_000],
    [477, {}, 'locked', 3_600_000],
    [500, {}, 'unavailable', undefined],
    [503, { 'retry-after': '5' }, 'unavailable', 5_000],
    [524, {}, 'unavailable', undefined],
    [408, {}, 'unavailable', undefined],
    [414, {}, 'refused', undefined],
    [404, {}, 'refused', undefined],
    [405, {}, 'refused', undefined],
  ])('%d with %j is %s, %s ms', (status, headers, kind, ms) => {
    const error = fault(status, '<html>', headers);
    expect([error.fault, error.retryAfterMs]).toEqual([kind, ms]);
  });

  it('carries the correlation id, and never the whole body', () => {
    expect(fault(401, { correlationId: 'c-1', message: 'token pat-1' }).message).toMatch(
      /^(?!.*pat-1).*correlation id c-1/,
    );
    expect(fault(500, {}, { 'x-hubspot-correlation-id': 'c-2' }).message).toContain('c-2');
    expect(fault(418, { message: 'm'.repeat(70_000) }).message.length).toBeLessThan(800);
  });
});

describe('the report to the runtime', () => {
  it('has the calls left in the window, and a pause when the day is used up', () => {
    const of = (headers: Record<string, string>) => observe({ status: 200, headers, body: '' });
    expect(of({ 'x-hubspot-ratelimit-remaining': '17', 'x-hubspot-ratelimit-daily-remaining': '400' })).toEqual({
      remaining: 17,
    });
    expect(of({ 'x-hubspot-ratelimit-daily-remaining': '0' })).toMatchObject({
      pauseMs: 60_000,
      reason: expect.stringContaining('daily'),
    });
    expect(of({})).toBeUndefined();
    expect(of({ 'x-hubspot-ratelimit-remaining': 'many' })).toBeUndefined();
  });

  it('has the burst limit of the settings, with search beside it, one below its own', () => {
    expect(hubspot.limits(settingsOf({ accessToken: 't' }))).toEqual({
      batch: { read: 100, update: 100 },
      concurrency: 8,
      budgets: { default: { calls: 190, perMs: 10_000 }, search: { calls: 4, perMs: 1_000 } },
    });
    expect(hubspot.limits(settingsOf({ accessToken: 't', rate: { calls: 100 } })).budgets.default).toEqual({
      calls: 100,
      perMs: 10_000,
    });
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { passesModulus11 } from '../../src/protocol/cvr-number.ts';
import { EVENT_NAMES } from '../../src/protocol/events.ts';
import { statesWholeCompany } from '../../src/protocol/full-state.ts';
import { type Payload, readPayload, writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload, type SampleCompany, sampleCompany } from '../../src/protocol/sample/company.ts';
import { sampleCompanies, samplePayload } from '../../src/protocol/sample/stream.ts';
import { readJson } from '../../src/protocol/text/json.ts';
import { sampleStream } from '../support/sample-stream.ts';

const folder = new URL('../../samples/payloads/', import.meta.url);

describe('the sample files', () => {
  it.each(readdirSync(folder))('%s is read whole', (file) => {
    const json = readJson(readFileSync(new URL(file, folder)));
    const read = readPayload(json.ok ? json.value : undefined);
    expect(read).toMatchObject({ ok: true, payload: { malformed: [], unknown: {}, stated: EVENT_NAMES } });
    expect(read.ok && Object.keys(read.payload.updates).length).toBeGreaterThan(0);
    expect(read.ok && statesWholeCompany(read.payload)).toBe(file === 'full-state.json');
  });
});

describe('a sample company', () => {
  it('is the same for the same seed, passes the check of the register and is out of its range', () => {
    expect(sampleCompany(5)).toEqual(sampleCompany(5));
    for (const { entityId } of sampleCompanies(1, 200)) {
      expect(passesModulus11(entityId.slice(6))).toBe(true);
      expect(Number(entityId.slice(6))).toBeGreaterThanOrEqual(95_000_000);
    }
  });
});

describe('a sample payload', () => {
  it.each(EVENT_NAMES)('tells of %s and of nothing else', (event) => {
    const payload = samplePayload({ event, entityId: 'cvr-1-99000015', now: 0, seed: 4 });
    expect(payload.entityId).toBe('CVR-1-99000015');
    expect(Object.keys(payload.updates)).toEqual([event]);
    expect(readPayload(JSON.parse(JSON.stringify(writePayload(payload))))).toEqual({ ok: true, payload });
  });

  it('states the whole company where no event is asked for', () => {
    expect(statesWholeCompany(samplePayload({ now: 0 }))).toBe(true);
  });
});

/** The values of a company that have an event with a state before and after, as such events name them. */
const valuesOf = (company: SampleCompany): Record<string, unknown> => ({
  ...company,
  monthlyEmployeeCount: company.monthly.count,
  quarterlyEmployees: company.quarterly.interval,
  yearlyEmployees: company.yearly.interval,
});

/** Expects every change of a payload to lead from the one state to the other. */
function expectStep(payload: Payload, before: SampleCompany, after: SampleCompany): void {
  for (const [event, data] of Object.entries(payload.updates)) {
    if (!('after' in data)) continue;
    expect(data.after).toEqual(valuesOf(after)[event]);
    if (!statesWholeCompany(payload)) expect(data.before).toEqual(valuesOf(before)[event]);
  }
}

describe('a stream of samples', () => {
  it('starts every change from what the company was, and tells what it is then', () => {
    const companies = new Map(sampleCompanies(9, 10).map((company) => [company.entityId, company]));
    const seen = new Set<string>();
    for (const { payload, company } of sampleStream(9, 3000, { companies: 10, fullStates: 0.01 })) {
      const before = companies.get(payload.entityId);
      if (before === undefined) throw new Error('a stream is about its companies only');
      for (const event of Object.keys(payload.updates)) seen.add(event);
      expectStep(payload, before, company);
      companies.set(payload.entityId, company);
    }
    expect(seen.size).toBeGreaterThanOrEqual(32);
  });

  it('folds added, removed and changed members to the list the company then has', () => {
    for (const [index, { payload, company }] of [...sampleStream(5, 2000, { companies: 1, fullStates: 0 })].entries()) {
      const { board, ownership } = payload.updates;
      const ids = (list: readonly { entityId: string }[]) => list.map(({ entityId }) => entityId);
      for (const gone of board?.removed ?? [])
        expect(ids(company.board), `payload ${index}`).not.toContain(gone.entityId);
      expect(ids(company.board)).toEqual(expect.arrayContaining(ids(board?.added ?? [])));
      for (const owner of ownership?.changed ?? []) expect(company.ownership).toContainEqual(owner);
      expect(new Set(ids(company.ownership)).size).toBe(company.ownership.length);
    }
  });

  it('is repeatable, goes forward in time, and is longer without being another', () => {
    const short = [...sampleStream(2, 50)];
    expect([...sampleStream(2, 80)].slice(0, 50)).toEqual(short);
    const times = short.map(({ payload }) => payload.timestamp);
    expect(times).toEqual([...new Set(times)].sort());
    expect([...sampleStream(3, 50)]).not.toEqual(short);
  });

  it('ends in a state that can be stated', () => {
    const last = [...sampleStream(6, 300)].at(-1);
    const payload = last && fullStatePayload(last.company, '2026-12-31T00:00:00.000Z');
    expect(payload && statesWholeCompany(payload)).toBe(true);
  });
});

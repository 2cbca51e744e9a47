import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPayload, writePayload } from '../../../src/protocol/payload.ts';
import { changesOf, diff } from '../../../src/service/register/diff/diff.ts';
import { stateOf } from '../../../src/service/register/diff/state.ts';
import type { Company } from '../../../src/service/register/document/company.ts';
import { readDocument } from '../../../src/service/register/document/document.ts';
import { arbitraryDocument, DAYS } from './arbitrary.ts';
import { ENTITY, OPTIONS } from './documents.ts';
import { factsOf, fold } from './fold.ts';

const day = fc.constantFrom(...DAYS);

const companyOf = (document: unknown, today: string): Company => {
  const reading = readDocument(document, today);
  if (reading.kind !== 'company') throw new Error(`the document is ${reading.kind}`);
  return reading.company;
};

/** The same value with every list in it in another order. */
const shuffled = (value: unknown, random: () => number): unknown => {
  if (Array.isArray(value)) {
    return value
      .map((each) => ({ each: shuffled(each, random), at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ each }) => each);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shuffled(each, random)]));
};

const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state;
  };
};

describe('for any document', () => {
  test('the order of its lists does not matter', () => {
    fc.assert(
      fc.property(arbitraryDocument, day, fc.nat(), (document, today, seed) => {
        expect(readDocument(shuffled(document, randomOf(seed)), today)).toEqual(readDocument(document, today));
      }),
    );
  });

  test('there is no difference to itself on the same day', () => {
    fc.assert(
      fc.property(arbitraryDocument, day, (document, today) => {
        const company = companyOf(document, today);
        expect(diff(company, company, OPTIONS)).toEqual({});
        expect(changesOf(company, company, { ...OPTIONS, today: '2030-01-01' })).toEqual([]);
      }),
    );
  });

  test('nothing changes before the next day that it names', () => {
    fc.assert(
      fc.property(arbitraryDocument, day, day, (document, today, later) => {
        const reading = readDocument(document, today);
        const { aheadOn } = reading.kind === 'unreadable' ? { aheadOn: null } : reading;
        if (later <= today || (aheadOn !== null && later >= aheadOn)) return;
        expect(diff(companyOf(document, today), companyOf(document, later), OPTIONS)).toEqual({});
      }),
    );
  });

  test('the snapshot is pure JSON', () => {
    fc.assert(
      fc.property(arbitraryDocument, day, (document, today) => {
        const company = companyOf(document, today);
        expect(JSON.parse(JSON.stringify(company))).toEqual(company);
      }),
    );
  });
});

describe('for any two documents of a company', () => {
  test('the changes applied to the old state give the new state', () => {
    fc.assert(
      fc.property(arbitraryDocument, arbitraryDocument, day, day, (one, other, today, later) => {
        const [before, after] = [companyOf(one, today), companyOf(other, later)];
        const told = changesOf(before, after, OPTIONS).filter(({ entity }) => entity === ENTITY);
        const folded = told.reduce((facts, { updates }) => fold(facts, updates), factsOf(before));
        const expected = new Map(factsOf(after));
        // The absence of what cannot be un-told stays untold: figures that were taken back, a life that never was.
        const untold = ['started', 'ended', 'monthlyEmployeeCount', 'quarterlyEmployees', 'yearlyEmployees'];
        for (const key of untold) if (!isNotified(before, after, key)) expected.set(key, folded.get(key));
        // Industries are compared by code and text, and listed by code: the reworded ones of a code are one.
        expect(Object.fromEntries(folded)).toEqual(Object.fromEntries(expected));
      }),
      { numRuns: 300 },
    );
  });

  test('every change survives the wire format', () => {
    fc.assert(
      fc.property(arbitraryDocument, arbitraryDocument, day, (one, other, today) => {
        const [before, after] = [companyOf(one, today), companyOf(other, today)];
        const state = { entity: ENTITY, timestamp: after.loadedAt, updates: stateOf(after, OPTIONS) };
        for (const { entity, timestamp, updates } of [...changesOf(before, after, OPTIONS), state]) {
          const wire = JSON.parse(JSON.stringify(writePayload({ entityId: entity, timestamp, updates })));
          const read = readPayload(wire);
          expect(read).toMatchObject({
            ok: true,
            payload: { entityId: entity, timestamp, malformed: [], unknown: {} },
          });
          expect(read.ok && read.payload.updates).toEqual(updates);
        }
      }),
    );
  });

  test('the full state holds all that a new receiver needs', () => {
    fc.assert(
      fc.property(arbitraryDocument, day, (document, today) => {
        const company = companyOf(document, today);
        const nothing = factsOf(companyOf({ Vrvirksomhed: { cvrNummer: 95_000_019 } }, today));
        const told = new Map(fold(nothing, stateOf(company, OPTIONS)));
        expect(Object.fromEntries(told.set('units', factsOf(company).get('units')))).toEqual(
          Object.fromEntries(factsOf(company)),
        );
      }),
    );
  });
});

const isNotified = (before: Company, after: Company, key: string): boolean => {
  if (key === 'started' || key === 'ended') return after.life.value.started !== null;
  const [was, is] =
    key === 'monthlyEmployeeCount'
      ? [before.monthly, after.monthly]
      : key === 'quarterlyEmployees'
        ? [before.quarterly, after.quarterly]
        : [before.yearly, after.yearly];
  return is !== null && (was === null || (is.year - was.year || is.number - was.number) >= 0);
};

describe('for any input', () => {
  const garbage = fc.anything({ maxDepth: 4, withNullPrototype: true });

  test('a document is read or reported as unreadable, and nothing is thrown', () => {
    const whole = fc.oneof(
      garbage,
      fc.record({ Vrvirksomhed: garbage }),
      fc.record({ VrproduktionsEnhed: garbage }),
      fc.record({ Vrdeltagerperson: garbage }),
    );
    fc.assert(
      fc.property(whole, (document) => {
        const reading = readDocument(document, '2026-03-10');
        expect(['company', 'unit', 'person', 'unreadable']).toContain(reading.kind);
      }),
    );
  });

  test('a document with anything in place of any part is read, and is still JSON', () => {
    const parts = fc.array(fc.tuple(fc.array(fc.nat({ max: 40 }), { maxLength: 6 }), fc.jsonValue({ maxDepth: 3 })), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(arbitraryDocument, parts, day, (document, replacements, today) => {
        const broken = replacements.reduce<unknown>((whole, [path, part]) => replaced(whole, path, part), document);
        const reading = readDocument(broken, today);
        // Whom it names is only asked, never stored.
        const stored = { ...reading, traces: undefined, unread: undefined };
        expect(JSON.parse(JSON.stringify(stored))).toEqual(stored);
        if (reading.kind !== 'company') return;
        const updates = stateOf(reading.company, OPTIONS);
        const written = writePayload({ entityId: ENTITY, timestamp: '2026-03-10T00:00:00.000Z', updates });
        expect(readPayload(JSON.parse(JSON.stringify(written)))).toMatchObject({
          ok: true,
          payload: { malformed: [] },
        });
      }),
      { numRuns: 500 },
    );
  });
});

/** A copy with one part replaced: the path takes the n-th key or item at each level, as long as there is one. */
function replaced(whole: unknown, [step, ...rest]: readonly number[], part: unknown): unknown {
  if (step === undefined || typeof whole !== 'object' || whole === null) return part;
  const keys = Object.keys(whole);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return part;
  const entries = Object.entries(whole).map(([name, each]) => [name, name === key ? replaced(each, rest, part) : each]);
  return Array.isArray(whole) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

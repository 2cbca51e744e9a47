import { describe, expect, it } from 'vitest';
import { type Payload, readPayload, type WireOptions } from '../../src/protocol/payload.ts';
import { LONGEST_TEXT } from '../../src/protocol/shape.ts';

const read = (updates: unknown, options: WireOptions = {}): Payload => {
  const result = readPayload({ entityId: 'cvr-1-99000016', timestamp: '2026-08-14T09:30:00', updates }, options);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.payload;
};
const rename = { updated: true, before: 'A', after: 'B' };

describe('what a payload needs', () => {
  it('refuses only what cannot be used at all, and names everything at once', () => {
    expect(readPayload({ entityId: 'x', timestamp: 5 })).toEqual({
      ok: false,
      errors: [
        { path: 'entityId', message: expect.any(String) },
        { path: 'timestamp', message: expect.any(String) },
        { path: 'updates', message: expect.any(String) },
      ],
    });
    for (const body of [null, [], 'text', 1]) expect(readPayload(body).ok).toBe(false);
  });

  it('reads an entity id in any case and a time without time zone as UTC', () => {
    expect(read({})).toMatchObject({
      entityId: 'CVR-1-99000016',
      timestamp: '2026-08-14T09:30:00.000Z',
      updates: {},
      stated: [],
    });
  });

  it('reads names in any case', () => {
    const body = {
      EntityID: 'CVR-1-99000016',
      Timestamp: '2026-08-14T09:30:00Z',
      UPDATES: { Name: { Updated: true, Before: 'A', AFTER: 'B' } },
    };
    expect(readPayload(body)).toMatchObject({ ok: true, payload: { updates: { name: { before: 'A', after: 'B' } } } });
  });
});

describe('which entries count', () => {
  it('takes absent, null and false as not updated, and true also as a text', () => {
    const payload = read({
      name: null,
      website: { updated: false, before: null },
      fax: { updated: 'false' },
      purpose: { ...rename, updated: 'True' },
    });
    expect(payload.updates).toEqual({ purpose: { before: 'A', after: 'B' } });
    expect(payload.stated).toEqual(['name', 'purpose', 'fax', 'website']);
    expect(payload.malformed).toEqual([]);
  });

  it('keeps updated entries of unknown name and forgets the others', () => {
    const payload = read({ tomorrow: rename, later: { updated: false }, name: rename });
    expect(payload.unknown).toEqual({ tomorrow: rename });
  });

  it('reads the older names as the new ones, and the updated one where both are there', () => {
    const added = [{ entityId: 'CVR-3-4999000001', name: 'Prøve Testesen', type: 'Person' }];
    const older = read({
      stakeholder: { updated: true, added, removed: [] },
      stakeholders: { updated: false },
      productionUnit: { updated: true, entity: added[0] },
    });
    expect(older.updates).toEqual({ stakeholders: { added, removed: [] }, pUnitUpdated: { entity: added[0] } });
    expect(
      read({ stakeholders: { updated: true, added }, stakeholder: { updated: true, removed: added } }).updates
        .stakeholders?.added,
    ).toEqual(added);
  });

  it('reads the e-mail event by its configured name, and by the default one', () => {
    expect(read({ mail: rename }, { emailEvent: 'mail' }).updates.email?.after).toBe('B');
    expect(read({ email: rename }, { emailEvent: 'mail' }).updates.email?.after).toBe('B');
    expect(read({ mail: rename }).unknown).toEqual({ mail: rename });
  });
});

describe('a malformed entry', () => {
  it.each([
    ['a text in place of the entry', { name: 'B' }, 'updates.name'],
    ['an entry that does not say whether it is updated', { name: { after: 'B' } }, 'updates.name'],
    ['no state after the change', { name: { updated: true, before: 'A' } }, 'updates.name.after'],
    ['none of the fields', { board: { updated: true } }, 'updates.board'],
    [
      'a list of the wrong things',
      { board: { updated: true, added: [{ name: 'x' }] } },
      'updates.board.added.0.entityId',
    ],
    ['a date that is none', { bylawsChangedDate: { updated: true, after: 'soon' } }, 'updates.bylawsChangedDate.after'],
    [
      'a number beyond the range',
      { monthlyEmployeeCount: { updated: true, year: 2026, month: 1, after: Number.POSITIVE_INFINITY } },
      'updates.monthlyEmployeeCount.after',
    ],
    ['a text where an object should be', { address: { updated: true, after: 'Prøvegade 1' } }, 'updates.address.after'],
    ['an empty object', { address: { updated: true, after: {} } }, 'updates.address.after'],
  ])('is set aside by name while the rest is used: %s', (_, entry, path) => {
    const payload = read({ ...entry, website: rename });
    expect(payload.updates).toEqual({ website: { before: 'A', after: 'B' } });
    expect(payload.malformed.map((malformed) => malformed.path)).toContain(path);
    expect(payload.malformed[0]?.event).toBe(Object.keys(entry)[0]);
  });

  it('is not one where only the state before cannot be read', () => {
    expect(read({ name: { updated: true, before: ['?'], after: 'B' } })).toMatchObject({
      updates: { name: { before: null, after: 'B' } },
      malformed: [],
    });
  });
});

describe('hostile names', () => {
  it('does nobody harm', () => {
    const json: unknown = JSON.parse(
      '{"entityId":"CVR-1-99000016","timestamp":"2026-08-14","updates":{"__proto__":{"updated":true,"polluted":1},"constructor":{"updated":true,"after":"x"},"toString":{"updated":true},"name":{"updated":true,"__proto__":{"polluted":1},"after":"B"}}}',
    );
    const result = readPayload(json);
    expect(result).toMatchObject({ ok: true, payload: { updates: { name: { before: null, after: 'B' } } } });
    if (result.ok) expect(Object.keys(result.payload.unknown)).toEqual(['constructor', 'toString']);
    expect('polluted' in {}).toBe(false);
    expect(result.ok && result.payload.updates.name && 'polluted' in result.payload.updates.name).toBe(false);
  });
});

describe('every text from outside is bounded when it is read', () => {
  const renamed = (length: number) =>
    read({ name: { updated: true, before: 'A', after: 'x'.repeat(length) }, website: rename });

  it('sets an entry aside whose text is longer than any property takes, and reads the others', () => {
    const payload = renamed(LONGEST_TEXT + 1);
    expect(payload.updates).toEqual({ website: expect.anything() });
    expect(payload.malformed).toMatchObject([{ event: 'name' }]);
    expect(JSON.stringify(payload.malformed)).toContain(`may have ${LONGEST_TEXT}`);
  });

  it('reads a text of just that length', () => {
    expect(renamed(LONGEST_TEXT).malformed).toEqual([]);
  });
});

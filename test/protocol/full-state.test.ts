import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, type EventName } from '../../src/protocol/events.ts';
import { statesWholeCompany } from '../../src/protocol/full-state.ts';
import type { Payload, Updates } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { sampleStream } from '../support/sample-stream.ts';

const whole = samplePayload({ now: 0 });
const withUpdates = (updates: Updates): Payload => ({ ...whole, updates: { ...whole.updates, ...updates } });
const without = (event: EventName): Payload => {
  const { [event]: _, ...updates } = whole.updates;
  return { ...whole, updates };
};
const person = { entityId: 'CVR-3-4999000001', name: 'Prøve Testesen', type: 'Person' };

describe('a payload that states the whole company', () => {
  it('is recognised, also where the e-mail event goes by a name we do not know', () => {
    expect(statesWholeCompany(whole)).toBe(true);
    expect(statesWholeCompany({ ...without('email'), stated: EVENT_NAMES.filter((name) => name !== 'email') })).toBe(
      true,
    );
  });

  it.each<[string, Payload]>([
    ['a state before', withUpdates({ phoneNumber: { before: '10111111', after: '10222222' } })],
    ['a removed member', withUpdates({ board: { added: [], removed: [person] } })],
    [
      'a changed share',
      withUpdates({ ownership: { added: [], removed: [], changed: [{ ...person, ownership: '10-15' }] } }),
    ],
    ['no name', without('name')],
    ['no address', without('address')],
    ['no beginning, as where name, address, status and form change at once', without('lifetimeStarted')],
    ['a name that was cleared', withUpdates({ name: { before: null, after: null } })],
    ['events it does not name', { ...whole, stated: whole.stated.slice(1) }],
    ['something malformed', { ...whole, malformed: [{ event: 'board', path: 'updates.board', message: 'is a text' }] }],
  ])('is not one with %s', (_, payload) => {
    expect(statesWholeCompany(payload)).toBe(false);
  });

  it('is not one where neither status nor form is there', () => {
    const { status: _, form: __, ...updates } = whole.updates;
    expect(statesWholeCompany({ ...whole, updates })).toBe(false);
  });

  it('is never a change out of a stream', () => {
    for (const { payload } of sampleStream(3, 500, { fullStates: 0 })) expect(statesWholeCompany(payload)).toBe(false);
  });
});

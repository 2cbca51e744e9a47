/** What the contract asks of records and links. */
import { linkRecord } from '../../src/connector/links/links.ts';
import { setOverride } from '../../src/connector/overrides/override.ts';
import { COMPANY } from '../service/monitored.ts';
import { type Case, NOBODY } from './case.ts';
import type { Faces } from './faces.ts';

const PROVIDER = 'hubspot';
const NAME = 'name';
let made = 7_000;

/** A linked record; with an override of its name if one is given. */
const record =
  (kind?: 'hold' | 'release') =>
  async ({ store }: Faces): Promise<readonly [string]> => {
    const recordId = String(++made);
    const ref = { provider: PROVIDER, recordId };
    await store.write(async (tx) => {
      await linkRecord(tx, { ...ref, entity: COMPANY, sendUpdate: false, now: 1 });
      const override = { once: false, until: null, reason: null };
      if (kind !== undefined) await setOverride(tx, { ...ref, property: NAME }, { kind, ...override }, 1);
    });
    return [recordId];
  };

const numberOf = (id: string): string => (id === NOBODY ? '404' : id);
const api = (id: string, more: object = {}) => ({ provider: PROVIDER, record: numberOf(id), ...more });

export const RECORD_CASES: readonly Case[] = [
  {
    operation: 'record.hold',
    what: 'of a property, with a reason',
    make: record(),
    ask: (id) => ({
      command: ['hold', `${PROVIDER}:${numberOf(id)}`, NAME, '--reason', 'sales'],
      api: ['POST', '/records/hold', api(id, { property: NAME, reason: 'sales' })],
    }),
    result: 'done',
    again: 'unchanged',
  },
  {
    operation: 'record.release',
    what: 'of a property, once',
    make: record(),
    ask: (id) => ({
      command: ['release', `${PROVIDER}:${numberOf(id)}`, NAME, '--once'],
      api: ['POST', '/records/release', api(id, { property: NAME, once: true })],
    }),
    result: 'done',
    again: 'unchanged',
  },
  {
    operation: 'record.clear',
    what: 'of a hold',
    make: record('hold'),
    ask: (id) => ({
      command: ['hold', `${PROVIDER}:${numberOf(id)}`, NAME, '--clear'],
      api: ['POST', '/records/clear', api(id, { property: NAME, kind: 'hold' })],
    }),
    result: 'done',
    again: 409,
  },
  {
    operation: 'monitoring.add',
    what: 'of a full update of a company that is linked',
    make: record(),
    ask: (id) => ({
      command: ['monitoring', 'add', PROVIDER, COMPANY, numberOf(id), '--send-update'],
      api: ['POST', '/links', api(id, { entityId: COMPANY, sendUpdate: true })],
    }),
    result: 'done',
  },
  {
    operation: 'monitoring.remove',
    what: 'of a link',
    make: record(),
    ask: (id) => ({
      command: ['monitoring', 'remove', PROVIDER, COMPANY, numberOf(id)],
      api: ['DELETE', `/links?provider=${PROVIDER}&record=${numberOf(id)}&entityId=${COMPANY}`],
    }),
    result: 'done',
  },
];

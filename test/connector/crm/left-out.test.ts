import { describe, expect, it } from 'vitest';
import type { Connection, Property, Read } from '../../../providers/provider.ts';
import { newStore } from '../../support/stores.ts';
import { openToyCrm } from '../../support/toy-crm.ts';
import { propertyOf } from '../property-of.ts';

const live = () => new AbortController().signal;
const NAMES = ['name', 'city', 'secret', 'unknown'];
const property = (name: string, more: Partial<Property> = {}): Property => propertyOf('string', { name, ...more });

/** A CRM that answers so, whatever it is asked. */
async function answering(read: Partial<Extract<Read, { kind: 'found' }>>) {
  const store = await newStore('sqlite');
  const asked = { properties: 0 };
  const connection: Connection = {
    check: async () => ({ id: '7', name: 'Seven', notes: [] }),
    properties: async () => {
      asked.properties += 1;
      return [property('name'), property('city'), property('secret', { unreadable: true })];
    },
    read: async (ids) => ids.map((id) => ({ kind: 'found', id, properties: {}, ...read })),
    update: async () => [],
    scan: async () => ({ records: [] }),
  };
  const crm = await openToyCrm({ store, now: () => 0, connect: () => connection });
  return { reads: await crm.connection.read(['1'], NAMES, live()), asked };
}

describe('a requested property that is missing in the answer', () => {
  it('delays the record if the schema says that it is readable', async () => {
    const { reads } = await answering({ properties: { name: 'A' } });
    expect(reads).toEqual([
      {
        kind: 'retry',
        id: '1',
        reason: 'crm: the provider left out city, which was asked for and can be read: blank is null',
      },
    ]);
  });

  it('stays absent if it is unreadable, or unknown to the CRM', async () => {
    const properties = { name: 'A', city: null };
    const { reads } = await answering({ properties });
    expect(reads).toEqual([{ kind: 'found', id: '1', properties }]);
  });

  it('stays absent if the answer marks it as unreadable', async () => {
    const { reads } = await answering({ properties: { name: 'A' }, unreadable: ['city'] });
    expect(reads).toEqual([{ kind: 'found', id: '1', properties: { name: 'A' } }]);
  });

  it('costs no call if nothing is missing', async () => {
    const { asked } = await answering({ properties: { name: 'A', city: 'B', secret: 'C', unknown: null } });
    expect(asked.properties).toBe(0);
  });
});

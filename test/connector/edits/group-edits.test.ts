/** An edit of one part of a group between our read and our write: the group comes back whole, in both CRMs. */
import { describe, expect, test } from 'vitest';
import type { PropertyValue } from '../../../providers/provider.ts';
import { readDifferences, settleDifference } from '../../../src/connector/history/differences.ts';
import { undoPage } from '../../../src/connector/undo/undo.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { AARHUS, KOLDING, ODENSE } from '../../support/addresses.ts';
import { handClock } from '../../support/clock.ts';
import { type CrmName, type Fixture, startFixture } from '../../support/fixture.ts';

const MINUTE_MS = 60_000;
type Values = Readonly<Record<string, PropertyValue>>;

/** What the tests name the properties of the connections, which differ. */
const PROPERTIES = {
  hubspot: {
    ...{ street: 'address', postalCode: 'zip', city: 'city', region: 'state' },
    ...{ capital: 'cvr_capital', currency: 'cvr_capital_currency' },
  },
  salesforce: {
    ...{ street: 'BillingStreet', postalCode: 'BillingPostalCode', city: 'BillingCity', region: 'BillingState' },
    ...{ capital: 'CVR_Capital__c', currency: 'CVR_Capital_Currency__c' },
  },
} as const;
type Part = keyof (typeof PROPERTIES)['hubspot'];
type Parts = Readonly<Partial<Record<Part, PropertyValue>>>;

const inAarhus = { street: 'Østergade 1', postalCode: '8000', city: 'Aarhus C', region: 'Region Midtjylland' };
const inOdense = { street: 'Vestergade 1', postalCode: '5000', city: 'Odense C', region: null };

async function open(crm: CrmName, parts: Parts) {
  const clock = handClock();
  const names: Readonly<Record<Part, string>> = PROPERTIES[crm];
  const fields = {
    capital: { property: names.capital, policy: 'tracked' },
    capitalCurrency: { property: names.currency, policy: 'tracked' },
  };
  const fixture = await startFixture({
    ...{ clock, unhurried: true, connections: { [crm]: { fields } } },
    hubspot: { rate: 'none', now: clock.now },
  });
  const named = (values: Parts): Values =>
    Object.fromEntries(Object.entries(values).map(([part, value]) => [names[part as Part], value]));
  const id = await fixture.addLinked(crm, ENTITY, { [crm === 'hubspot' ? 'name' : 'Name']: 'A ApS', ...named(parts) });
  /** Lets the time pass after which HubSpot is asked for the edits that our writes went over. */
  const pass = async () => {
    await fixture.settled();
    clock.forward(10 * MINUTE_MS);
    fixture.app.connector?.wake();
    await expect.poll(() => dueLanes(fixture, clock.now()), { interval: 20, timeout: 20_000 }).toEqual([]);
    await fixture.settled();
  };
  await pass();
  return {
    ...{ fixture, id, pass },
    holds: (): Parts => {
      const record = fixture[crm].get(id) ?? {};
      const shown = (Object.keys(parts) as Part[]).map((part) => [part, record[names[part]] ?? null]);
      return Object.fromEntries(shown);
    },
    edit: (values: Parts) => fixture[crm].edit(id, named(values), 'Bo Lind'),
    /** A person writes this right before our next write arrives. */
    editBeforeWrite(values: Parts) {
      fixture[crm].onArrival = () => {
        fixture[crm].onArrival = undefined;
        fixture[crm].edit(id, named(values), 'Bo Lind');
      };
    },
    async report(updates: Updates, hour: number) {
      expect(await fixture.post(reported(updates, hour))).toBe(204);
      await fixture.settled();
    },
    async undo() {
      const connection = fixture.app.connector?.crms.find(({ name }) => name === crm);
      if (connection === undefined) throw new Error(`${crm} is not connected`);
      const deps = { store: fixture.app.store, metrics: createMetrics(), now: clock.now, leaseMs: MINUTE_MS };
      const batch = { crm: connection, ids: [id], selection: { entity: ENTITY } };
      await undoPage(deps, batch, AbortSignal.timeout(MINUTE_MS));
    },
    differences: () => readDifferences(fixture.app.store.db, clock.now(), {}, 9),
  };
}

const dueLanes = async ({ app }: Fixture, now: number) => {
  const lanes = await app.store.db.selectFrom('lane').select(['queue', 'due_at']).execute();
  return lanes.filter(({ queue, due_at }) => queue.startsWith('edits:') && (due_at ?? 0) <= now);
};

const amount = (value: number, currency: string) => ({ value, currency, hasClasses: null, isPartial: null });
const capital = (value: number, currency: string): Updates => ({
  capital: { before: amount(40_000, 'DKK'), after: amount(value, currency) },
});
const moved = { address: { before: AARHUS, after: ODENSE } };

describe.each(['hubspot', 'salesforce'] as const)('between our read and our write in %s', (crm) => {
  test.each<[string, Parts]>([
    ['street', { street: 'Visitgade 5' }],
    ['town', { city: 'Byen' }],
    ['street and the town', { street: 'Visitgade 5', city: 'Byen' }],
    ['region', { region: 'Jylland', street: 'Visitgade 5' }],
  ])('an edit of the %s restores the whole address', async (_, edit) => {
    const { report, pass, editBeforeWrite, holds, differences } = await open(crm, inAarhus);
    editBeforeWrite(edit);
    await report(moved, 8);
    await pass();
    expect(holds()).toEqual({ ...inAarhus, ...edit });
    expect(await differences()).toHaveLength(1);
    await report({ address: { before: ODENSE, after: KOLDING } }, 9);
    await pass();
    expect(holds()).toEqual({ ...inAarhus, ...edit });
    expect(await differences()).toHaveLength(1);
  });

  test.each<Parts>([{ city: 'Byen' }, { postalCode: '8200', city: 'Byen' }])(
    'an edit of %o beside a new street brings the address back whole, at that time and later',
    async (edit) => {
      const { report, pass, editBeforeWrite, holds, differences } = await open(crm, inAarhus);
      const nygade = { ...AARHUS, streetName: 'Nygade' };
      editBeforeWrite(edit);
      await report({ address: { before: AARHUS, after: nygade } }, 8);
      await pass();
      expect(holds()).toEqual({ ...inAarhus, ...edit });
      await report({ address: { before: nygade, after: { ...AARHUS, streetName: 'Strandvej' } } }, 9);
      await pass();
      expect(holds()).toEqual({ ...inAarhus, ...edit });
      expect(await differences()).toHaveLength(1);
    },
  );

  test('an edit of a currency beside a new amount restores both', async () => {
    const before = { capital: 40_000, currency: 'DKK' };
    const { report, pass, editBeforeWrite, holds } = await open(crm, before);
    editBeforeWrite({ currency: 'SEK' });
    await report(capital(500_000, 'DKK'), 8);
    await pass();
    expect(holds()).toEqual({ capital: 40_000, currency: 'SEK' });
  });

  test('an edit stays overwritten if a person changed another part of the address since', async () => {
    const { report, pass, edit, editBeforeWrite, holds, differences, fixture } = await open(crm, inAarhus);
    editBeforeWrite({ street: 'Visitgade 5' });
    // Salesforce tells at once of what was replaced: the read after the write, before it would come back, has to wait.
    const away = { kind: 'status', status: 503, body: {} } as const;
    fixture.salesforce.onWrite = () => {
      fixture.salesforce.onWrite = undefined;
      fixture.salesforce.fault({ match: 'POST .*/composite/sobjects/Account$', action: away });
    };
    await report(moved, 8);
    expect(holds()).toEqual(inOdense);
    edit({ city: 'Byen' });
    await pass();
    expect(holds()).toEqual({ ...inOdense, city: 'Byen' });
    await report({ address: { before: ODENSE, after: KOLDING } }, 9);
    expect(holds()).toEqual({ ...inOdense, city: 'Byen' });
    expect(await differences()).toHaveLength(1);
  });

  test('an edit that an undo overwrote restores the whole address', async () => {
    const { report, pass, editBeforeWrite, holds, undo } = await open(crm, inAarhus);
    await report(moved, 8);
    await pass();
    editBeforeWrite({ street: 'Visitgade 5' });
    await undo();
    await pass();
    expect(holds()).toEqual({ ...inOdense, street: 'Visitgade 5' });
  });

  test.each<Parts>([{ capital: 45_000 }, { currency: 'SEK' }])(
    'an amount and its currency are one difference, which one answer settles: %o',
    async (edit) => {
      const before = { capital: 40_000, currency: 'DKK' };
      const { report, pass, edit: editByPerson, holds, differences, fixture } = await open(crm, before);
      editByPerson(edit);
      await report(capital(500_000, 'EUR'), 8);
      const [one, ...others] = await differences();
      expect([holds(), others]).toEqual([{ ...before, ...edit }, []]);
      if (one === undefined) throw new Error('there is no difference');
      await fixture.app.store.write((tx) => settleDifference(tx, one, 'register', Date.now()));
      await pass();
      expect(holds()).toEqual({ capital: 500_000, currency: 'EUR' });
      expect(await differences()).toEqual([]);
    },
  );

  test('an edit of an amount restores its currency, and an edit of a currency its amount', async () => {
    for (const edit of [{ capital: 45_000 }, { currency: 'SEK' }]) {
      const before = { capital: 40_000, currency: 'DKK' };
      const { report, pass, editBeforeWrite, holds } = await open(crm, before);
      editBeforeWrite(edit);
      await report(capital(500_000, 'EUR'), 8);
      await pass();
      expect(holds()).toEqual({ ...before, ...edit });
    }
  });
});

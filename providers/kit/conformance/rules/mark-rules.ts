/** Rules about groups of properties, and about the marks of amounts, percentages and sites. */
import type { Property } from '../../../provider.ts';
import { brief, insist, insistList, insistSame, isProviderError } from '../lab/insist.ts';
import { type Lab, live, of } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { described, roundTrip, valuesOf } from '../lab/values.ts';

/** ISO 4217. */
const CURRENCY = /^[A-Z]{3}$/;

/** The subject's property with this mark, as the connection lists it. */
async function marked(lab: Lab, name = '', mark: 'money' | 'fraction' | 'ownSite'): Promise<Property> {
  const property = await described(lab, name);
  insist(property?.[mark] === true, `${name} is listed without ${mark}: ${brief(property)}`);
  return property;
}

export const MARK_RULES: readonly ConformanceRule[] = [
  {
    name: 'patch-is-one-write',
    about: 'the properties of a patch are written together or not at all, even if the CRM fails after a first call',
    why: 'otherwise a record mixes parts of an old and a new address, or a new amount with an old currency',
    run: async (lab) => {
      const { ids, fake, connection, subject } = lab;
      const { text, long, number } = subject.properties;
      const [id = ''] = ids;
      const wanted = { [text]: 'Ny', [long]: 'Ny tekst', [number]: 18 };
      const before = Object.fromEntries(Object.keys(wanted).map((name) => [name, lab.held(id, name) ?? null]));
      fake.fault({ match: subject.calls.update, after: 1, action: { kind: 'status', status: 503, body: '' } });
      const outcomes = await connection.update([{ id, properties: wanted }], live()).catch((error: unknown) => {
        if (isProviderError(error)) return [];
        throw error;
      });
      const held = Object.fromEntries(Object.keys(wanted).map((name) => [name, lab.held(id, name) ?? null]));
      const isWritten = of(outcomes, id)?.kind === 'written';
      insistSame(
        held,
        isWritten ? wanted : before,
        `the values of a record whose patch came back as ${brief(of(outcomes, id))}`,
      );
    },
  },
  {
    name: 'amounts',
    about:
      'an amount that the CRM shows in a currency is marked money, and names the currency or the property that holds it',
    why: 'EUR 500,000 would appear in the CRM as DKK 500,000',
    has: ({ subject }) => subject.properties.amount !== undefined,
    run: async (lab) => {
      const { amount = '' } = lab.subject.properties;
      const { currency, currencyIn } = await marked(lab, amount, 'money');
      insist(currency === undefined || currencyIn === undefined, `${amount} states both currency and currencyIn`);
      if (currency !== undefined)
        insist(CURRENCY.test(currency), `the currency of ${amount} is ${brief(currency)}, which is not an ISO code`);
      if (currencyIn !== undefined) {
        const all = insistList(await lab.connection.properties(live()), 'properties');
        insist(
          all.some(({ name }) => name === currencyIn),
          `currencyIn of ${amount} names ${currencyIn}, which is not listed`,
        );
        const [id = ''] = lab.ids;
        lab.fake.edit(id, { [currencyIn]: 'EUR' });
        if (lab.subject.lacks?.read === undefined)
          insistSame(
            (await valuesOf(lab, id, [currencyIn]))[currencyIn],
            'EUR',
            `the currency of a record, read in ${currencyIn}`,
          );
      }
      await roundTrip(lab, { [amount]: 1234 });
    },
  },
  {
    name: 'fractions',
    about:
      'a number that the CRM shows as a percentage is marked fraction, and is written and read as the CRM stores it',
    why: 'a solvency ratio of 33.3 % would appear as 3,330 %, or as 0.3 %',
    has: ({ subject }) => subject.properties.fraction !== undefined,
    run: async (lab) => {
      const { fraction = '' } = lab.subject.properties;
      await marked(lab, fraction, 'fraction');
      await roundTrip(lab, { [fraction]: 0.333 });
    },
  },
  {
    name: 'own-site',
    about: "a property that the CRM treats as the company's own domain, and finds other values by, is marked ownSite",
    why: "the address of a company's page on a social network would fill its record with the values of that network",
    has: ({ subject }) => subject.properties.site !== undefined,
    run: async (lab) => void (await marked(lab, lab.subject.properties.site, 'ownSite')),
  },
];

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
    about:
      'the properties of a patch are written together, or none of them, also where the CRM fails after a first call',
    why: 'half of an address, or an amount without its currency, would stand beside the other half of what was there before',
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
        `what a record holds of a patch that came back as ${brief(of(outcomes, id))}`,
      );
    },
  },
  {
    name: 'amounts',
    about:
      'an amount that the CRM shows in a currency of its own is marked money, and says which: in every record, or in which property of it',
    why: 'EUR 500,000 would stand in the CRM as DKK 500,000',
    has: ({ subject }) => subject.properties.amount !== undefined,
    run: async (lab) => {
      const { amount = '' } = lab.subject.properties;
      const { currency, currencyIn } = await marked(lab, amount, 'money');
      insist(currency === undefined || currencyIn === undefined, `${amount} states both currency and currencyIn`);
      if (currency !== undefined)
        insist(CURRENCY.test(currency), `the currency of ${amount} is ${brief(currency)}: no ISO code`);
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
    about: 'a number that the CRM shows a hundredfold is marked fraction, and goes there and back as the CRM holds it',
    why: 'a solvency ratio of 33.3 % would stand there as 3,330 %, or as 0.3 %',
    has: ({ subject }) => subject.properties.fraction !== undefined,
    run: async (lab) => {
      const { fraction = '' } = lab.subject.properties;
      await marked(lab, fraction, 'fraction');
      await roundTrip(lab, { [fraction]: 0.333 });
    },
  },
  {
    name: 'own-site',
    about: "what the CRM takes for the company's own domain, and finds other values by, is marked ownSite",
    why: "the address of a company's page on a social network would fill its record with the values of that network",
    has: ({ subject }) => subject.properties.site !== undefined,
    run: async (lab) => void (await marked(lab, lab.subject.properties.site, 'ownSite')),
  },
];

/**
 * currency: an amount is written only if its currency is known beside it, and a currency is changed only together with
 * the amounts that stand beside it. Pure.
 */
import { CURRENCY_OF, type FieldName } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import type { Fact } from '../facts/fact.ts';
import { isBlank } from './decide.ts';
import { leftWith } from './group.ts';
import { type Planned, RETURNED } from './planned.ts';

export interface CurrencyInput {
  readonly facts: ReadonlyMap<FieldName, Fact>;
  readonly schema: ReadonlyMap<string, Property>;
  /** The CRM's one currency, where the configuration names it. */
  readonly currency?: string | undefined;
  /** What the record holds. */
  readonly crm: Readonly<Record<string, PropertyValue>>;
}

/** The rule by which an amount is held back that the CRM would show in another currency, or in none. */
export const CURRENCY = 'currency';

/** Holds back what would stand in the CRM with another currency than the register's, or with none. */
export function withCurrencies(planned: readonly Planned[], input: CurrencyInput): readonly Planned[] {
  const currencies = new Set(planned.flatMap(({ field }) => currencyOf(field) ?? []));
  return [...currencies].reduce((all, currency) => withCurrency(all, currency, input), planned);
}

const CURRENCIES: Readonly<Partial<Record<FieldName, FieldName>>> = CURRENCY_OF;

/** The field that says what currency this one is in; undefined for what is no amount. */
export const currencyOf = (field: FieldName): FieldName | undefined => CURRENCIES[field];

/** These fields, and those that the amounts among them have their currency in: an amount is decided by both. */
export const withCurrencyFields = (fields: readonly FieldName[]): readonly FieldName[] => [
  ...new Set([...fields, ...fields.flatMap((field) => currencyOf(field) ?? [])]),
];

function withCurrency(all: readonly Planned[], currency: FieldName, input: CurrencyInput): readonly Planned[] {
  const isAmount = ({ field }: Planned) => currencyOf(field) === currency;
  const isMapped = all.some(({ field }) => field === currency);
  const known = all.map((each) => {
    const lack =
      isAmount(each) && writesAmount(each) && !isPutBack(each)
        ? lacking(each, all, { currency, isMapped }, input)
        : undefined;
    return lack === undefined ? each : heldBack(each, lack);
  });
  // An amount that stays as it is, a person's own too, would change its meaning with its currency.
  const stays = known.find((each) => isAmount(each) && !showsItself(each, input) && staysAsItIs(each));
  const safe = known.map((each) =>
    each.field === currency && stays !== undefined && changes(each) && !isPutBack(each) ? leftWith(each, stays) : each,
  );
  const beside = safe.filter(({ field }) => field === currency);
  const saying = beside.filter((each) => isWritten(each) && !isPutBack(each));
  const written = saying.map(({ property }) => property);
  const silent = beside.find((each) => !saying.includes(each) && each.rule !== 'same' && each.rule !== 'stored');
  const code = codeOf(currency, input);
  const changed = safe
    .filter((each) => isAmount(each) && changes(each) && !showsItself(each, input))
    .map(({ property }) => property);
  return safe.map((each) => {
    if (isPutBack(each)) return each;
    // The other way round, too: amounts that the CRM refuses would be left under a new currency.
    if (each.field === currency && changes(each)) return { ...each, needs: changed };
    if (!isAmount(each) || !writesAmount(each)) return each;
    // What the CRM shows with a currency of its own needs no other property to say it.
    if (showsItself(each, input)) return each;
    if (silent === undefined || code === input.currency) return { ...each, needs: written };
    return leftWith(each, silent);
  });
}

const STAYS: ReadonlySet<string> = new Set(['edited', 'filled', 'held', 'set-aside', 'read-only', 'missing', CURRENCY]);

/** An amount that is not the register's when this is done. */
const staysAsItIs = (amount: Planned): boolean =>
  isPutBack(amount) ? !isBlank(amount.now) : STAYS.has(amount.rule) && !isBlank(amount.old);

/** The write restores a person's value, together with its group. */
const isPutBack = ({ rule }: Planned): boolean => rule === RETURNED;
const isWritten = ({ action }: Planned): boolean => action === 'write';
const changes = (planned: Planned): boolean => isWritten(planned) && !isBlank(planned.old);
const writesAmount = (planned: Planned): boolean => isWritten(planned) && !isBlank(planned.now);

interface Lack {
  readonly detail: string;
  /** One cause for all records, which `check` tells of: none of them is to be reviewed for it. */
  readonly always?: true;
}

function codeOf(currency: FieldName, { facts }: CurrencyInput): string | undefined {
  const value = facts.get(currency)?.value;
  return value !== undefined && 'scalar' in value && value.scalar !== null ? String(value.scalar) : undefined;
}

/** Whether the CRM shows an amount with a currency that the mapped property of currencies does not decide. */
const showsItself = ({ property }: Planned, { schema }: CurrencyInput): boolean => schema.get(property)?.money === true;

/** The currency that the CRM shows an amount in; undefined if nobody says it. */
function shownIn(property: Property, all: readonly Planned[], { crm, currency }: CurrencyInput): string | undefined {
  if (property.currencyIn === undefined) return property.currency ?? currency;
  const written = all.find((each) => each.property === property.currencyIn && isWritten(each));
  const value = written?.now ?? crm[property.currencyIn];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Why an amount's currency cannot be known beside it; undefined if it can. */
function lacking(
  amount: Planned,
  all: readonly Planned[],
  { currency, isMapped }: { readonly currency: FieldName; readonly isMapped: boolean },
  input: CurrencyInput,
): Lack | undefined {
  const { facts, schema, currency: own } = input;
  const property = schema.get(amount.property);
  const code = codeOf(currency, input);
  // What is said of an amount says its currency too: an older one is another amount's.
  if (code === undefined || facts.get(currency)?.clock !== facts.get(amount.field)?.clock)
    return { detail: 'the currency of this amount is not known' };
  if (property?.money === true) {
    const shown = shownIn(property, all, input);
    if (shown === code) return undefined;
    if (shown !== undefined)
      return { detail: `the amount is in ${code}, and ${property.name} shows amounts in ${shown}` };
    const detail = `the amount is in ${code}, and nothing says what currency ${property.name} shows`;
    return property.currencyIn === undefined ? { detail: `${detail}: set currency`, always: true } : { detail };
  }
  if (code === own) return undefined;
  if (isMapped) return undefined;
  const detail = `the amount is in ${code}, and no property beside it says so: map ${currency}`;
  return own === undefined ? { detail: `${detail}, or set currency`, always: true } : { detail };
}

const heldBack = (planned: Planned, { detail, always }: Lack): Planned => ({
  ...planned,
  action: always === true ? 'skip' : 'set-aside',
  rule: CURRENCY,
  detail,
});

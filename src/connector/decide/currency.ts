/** Writes an amount only with its currency, and changes a currency only together with its amounts. Pure. */
import { CURRENCY_OF, type FieldName } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import type { Fact } from '../facts/fact.ts';
import { isBlank } from './decide.ts';
import { leftWith } from './group.ts';
import { type Planned, RETURNED } from './planned.ts';

export interface CurrencyInput {
  readonly facts: ReadonlyMap<FieldName, Fact>;
  readonly schema: ReadonlyMap<string, Property>;
  readonly currency?: string | undefined;
  readonly crm: Readonly<Record<string, PropertyValue>>;
}

/** The rule of an amount that the CRM would show in another currency, or without one. */
export const CURRENCY = 'currency';

/** Prevents writes that would show an amount in another currency than the register's, or without one. */
export function withCurrencies(planned: readonly Planned[], input: CurrencyInput): readonly Planned[] {
  const currencies = new Set(planned.flatMap(({ field }) => currencyOf(field) ?? []));
  return [...currencies].reduce((all, currency) => withCurrency(all, currency, input), planned);
}

const CURRENCIES: Readonly<Partial<Record<FieldName, FieldName>>> = CURRENCY_OF;

/** The field that holds this field's currency; undefined if it is not an amount. */
export const currencyOf = (field: FieldName): FieldName | undefined => CURRENCIES[field];

const CURRENCY_FIELDS: ReadonlySet<FieldName> = new Set(Object.values(CURRENCY_OF));

/** Whether a field is an amount or a currency of amounts. */
export const isOfAmount = (field: FieldName): boolean => currencyOf(field) !== undefined || CURRENCY_FIELDS.has(field);

/** Adds the currency fields of the amounts: an amount is decided by both. */
export const withCurrencyFields = (fields: readonly FieldName[]): readonly FieldName[] => [
  ...new Set([...fields, ...fields.flatMap((field) => currencyOf(field) ?? [])]),
];

function withCurrency(all: readonly Planned[], currency: FieldName, input: CurrencyInput): readonly Planned[] {
  const isAmount = ({ field }: Planned) => currencyOf(field) === currency;
  // Most records: nothing is written that could show an amount in a wrong currency.
  if (!all.some((each) => isWritten(each) && (isAmount(each) || each.field === currency))) return all;
  const isMapped = all.some(({ field }) => field === currency);
  const known = all.map((each) => {
    const lack =
      isAmount(each) && writesAmount(each) && !isPutBack(each)
        ? missingCurrency(each, all, { currency, isMapped }, input)
        : undefined;
    return lack === undefined ? each : heldBack(each, lack);
  });
  // An amount that stays, also a person's own, would change its meaning with its currency.
  const stays = known.find((each) => isAmount(each) && !showsItself(each, input) && staysAsItIs(each));
  const safe = known.map((each) =>
    each.field === currency && stays !== undefined && changes(each) && !isPutBack(each) ? leftWith(each, stays) : each,
  );
  const currencyRows = safe.filter(({ field }) => field === currency);
  const saying = currencyRows.filter((each) => isWritten(each) && !isPutBack(each));
  const written = saying.map(({ property }) => property);
  const silent = currencyRows.find((each) => !saying.includes(each) && each.rule !== 'same' && each.rule !== 'stored');
  const code = codeOf(currency, input);
  const changed = safe
    .filter((each) => isAmount(each) && changes(each) && !showsItself(each, input))
    .map(({ property }) => property);
  return safe.map((each) => {
    if (isPutBack(each)) return each;
    // If the CRM refuses the amounts, they must not stay under a new currency.
    if (each.field === currency && changes(each)) return { ...each, needs: changed };
    if (!isAmount(each) || !writesAmount(each)) return each;
    if (showsItself(each, input)) return each;
    if (silent === undefined || code === input.currency) return { ...each, needs: written };
    return leftWith(each, silent);
  });
}

const STAYS: ReadonlySet<string> = new Set(['edited', 'filled', 'held', 'set-aside', 'read-only', 'missing', CURRENCY]);

/** The amount will differ from the register's. */
const staysAsItIs = (amount: Planned): boolean =>
  isPutBack(amount) ? !isBlank(amount.now) : STAYS.has(amount.rule) && !isBlank(amount.old);

/** The write restores a person's value and its group. */
const isPutBack = ({ rule }: Planned): boolean => rule === RETURNED;
const isWritten = ({ action }: Planned): boolean => action === 'write';
const changes = (planned: Planned): boolean => isWritten(planned) && !isBlank(planned.old);
const writesAmount = (planned: Planned): boolean => isWritten(planned) && !isBlank(planned.now);

interface Lack {
  readonly detail: string;
  /** One cause for all records: `check` reports it, and no record needs a review. */
  readonly always?: true;
}

function codeOf(currency: FieldName, { facts }: CurrencyInput): string | undefined {
  const value = facts.get(currency)?.value;
  return value !== undefined && 'scalar' in value && value.scalar !== null ? String(value.scalar) : undefined;
}

const showsItself = ({ property }: Planned, { schema }: CurrencyInput): boolean => schema.get(property)?.money === true;

function shownIn(property: Property, all: readonly Planned[], { crm, currency }: CurrencyInput): string | undefined {
  if (property.currencyIn === undefined) return property.currency ?? currency;
  const written = all.find((each) => each.property === property.currencyIn && isWritten(each));
  const value = written?.now ?? crm[property.currencyIn];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function missingCurrency(
  amount: Planned,
  all: readonly Planned[],
  { currency, isMapped }: { readonly currency: FieldName; readonly isMapped: boolean },
  input: CurrencyInput,
): Lack | undefined {
  const { facts, schema, currency: own } = input;
  const property = schema.get(amount.property);
  const code = codeOf(currency, input);
  // An assertion of an amount includes its currency; an older currency belongs to another amount.
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
  const detail = `the amount is in ${code}, and no mapped property says so: map ${currency}`;
  return own === undefined ? { detail: `${detail}, or set currency`, always: true } : { detail };
}

const heldBack = (planned: Planned, { detail, always }: Lack): Planned => ({
  ...planned,
  action: always === true ? 'skip' : 'set-aside',
  rule: CURRENCY,
  detail,
});

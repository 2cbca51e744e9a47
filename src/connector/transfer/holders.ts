/** Finds records of a company in the CRM: by its number in any spelling, or by its name. */
import { type Page, type PropertyValue, ProviderError } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently, type WaitReport } from '../crm/patience.ts';
import { watchScan } from '../crm/scan-watch.ts';

export interface Holder {
  readonly id: string;
  /** As the CRM spells them; null if blank or unreadable. */
  readonly number: string | null;
  readonly name: string | null;
}

export interface Holders {
  readonly byNumber: readonly Holder[];
  /** Records with the same name and without that number. */
  readonly byName: readonly Holder[];
}

/** The number has eight digits; the name is as cvrsync would write it. */
export interface Sought {
  readonly number: string;
  readonly name: string;
  readonly match: string;
  readonly nameProperty: string | undefined;
  readonly numeric: boolean;
}

export interface HoldersDeps {
  readonly crm: Crm;
  readonly now: () => number;
  readonly reading: (count: number) => void;
  readonly waiting?: WaitReport | undefined;
}

type Find = NonNullable<Crm['connection']['find']>;
type Properties = Readonly<Record<string, PropertyValue>>;

/**
 * Searches by value, in a few calls. If the CRM cannot search, or its index may lag, reads every record: one call a
 * page.
 */
export const findHolders = async (deps: HoldersDeps, sought: Sought, signal: AbortSignal): Promise<Holders> =>
  (await findByValue(deps.crm, sought, signal)) ?? (await readAll(deps, sought, signal));

/** Usual spellings of the number; only a read of every record finds others. */
function spellingsOf({ number, numeric }: Sought): readonly string[] {
  const pairs = number.replace(/(..)(?=.)/gu, '$1 ');
  const bare = number.replace(/^0+/u, '');
  if (numeric) return [bare];
  return [...new Set([number, bare, pairs, `DK${number}`, `DK ${number}`, `DK-${number}`, `DK ${pairs}`])];
}

async function findByValue({ connection }: Crm, sought: Sought, signal: AbortSignal): Promise<Holders | undefined> {
  const { nameProperty, name } = sought;
  if (connection.find === undefined) return undefined;
  const find: Find = connection.find.bind(connection);
  const byNumber = await findByNumber(find, sought, signal);
  if (byNumber === undefined) return undefined;
  const named = nameProperty === undefined ? undefined : await find(nameProperty, name, signal);
  const others = (named?.records ?? []).filter(({ id }) => !byNumber.has(id));
  return {
    byNumber: [...byNumber.values()],
    byName: others.map(({ id, properties }) => holderOf(id, properties, sought)),
  };
}

/** Undefined if the CRM cannot guarantee that these are all. */
async function findByNumber(
  find: Find,
  sought: Sought,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Holder> | undefined> {
  const { match, number } = sought;
  const holders = new Map<string, Holder>();
  for (const spelling of spellingsOf(sought)) {
    const { records, sure } = await find(match, spelling, signal);
    if (!sure) return undefined;
    // A CRM may compare loosely: a returned number must be equal.
    for (const { id, properties } of records)
      if (!Object.hasOwn(properties, match) || isNumber(number, properties[match]))
        holders.set(id, holderOf(id, properties, sought));
  }
  return holders;
}

async function readAll(deps: HoldersDeps, sought: Sought, signal: AbortSignal): Promise<Holders> {
  const { crm, reading } = deps;
  const { match, nameProperty, number, name } = sought;
  const byNumber = new Map<string, Holder>();
  const byName = new Map<string, Holder>();
  const properties = [...new Set([match, nameProperty].filter((one) => one !== undefined))];
  let count = 0;
  let numbered = 0;
  for await (const { records } of allPages(deps, properties, signal)) {
    for (const { id, properties: of } of records) {
      numbered += Object.hasOwn(of, match) ? 1 : 0;
      if (isNumber(number, of[match])) byNumber.set(id, holderOf(id, of, sought));
      else if (nameProperty !== undefined && isSameName(name, of[nameProperty]))
        byName.set(id, holderOf(id, of, sought));
    }
    count += records.length;
    reading(count);
  }
  if (count > 0 && numbered === 0)
    throw new ProviderError(
      'refused',
      `${crm.name} shows ${match} to these credentials in no record, so no duplicate would be seen: grant it`,
    );
  return { byNumber: [...byNumber.values()], byName: [...byName.values()] };
}

async function* allPages(
  { crm, now, waiting }: HoldersDeps,
  properties: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Page, void, undefined> {
  const watch = watchScan(crm.name);
  let cursor: string | undefined;
  do {
    const from = cursor;
    const page = await patiently(
      { crm, now, report: waiting },
      () => crm.connection.scan(properties, from, signal),
      signal,
    );
    await watch(page);
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

const holderOf = (id: string, properties: Properties, { match, nameProperty }: Sought): Holder => ({
  id,
  number: textOrNull(properties[match]),
  name: nameProperty === undefined ? null : textOrNull(properties[nameProperty]),
});

const textOrNull = (value: PropertyValue | undefined): string | null =>
  value === null || value === undefined || value === '' ? null : String(value);

function isNumber(number: string, value: PropertyValue | undefined): boolean {
  const read = readCvrNumber(value);
  return (read.kind === 'number' || read.kind === 'lost-zero') && read.number === number;
}

/** The name without case, punctuation and legal form. A person decides whether two such names are one company. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[.,]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/ (?:a\/s|aps|as|i\/s|is|k\/s|ks|p\/s|ivs|amba|fmba|smba)$/u, '');

const isSameName = (name: string, value: PropertyValue | undefined): boolean =>
  typeof value === 'string' && folded(value) !== '' && folded(value) === folded(name);

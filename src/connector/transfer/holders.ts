/** holders: the records that a company has in the CRM already, by its number in any spelling, or by its name. */
import { type PropertyValue, ProviderError } from '../../../providers/provider.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import type { Crm } from '../crm/crm.ts';
import { patiently } from '../crm/patience.ts';

export interface Holder {
  readonly id: string;
  /** What it holds as its number and its name, as the CRM spells them; null where blank or not to be seen. */
  readonly number: string | null;
  readonly name: string | null;
}

export interface Holders {
  readonly byNumber: readonly Holder[];
  /** Records with the same name, and not that number. */
  readonly byName: readonly Holder[];
}

/** Whom to look for: eight digits, and the name as it would be written. */
export interface Sought {
  readonly number: string;
  readonly name: string;
  /** The properties that hold them. */
  readonly match: string;
  readonly nameProperty: string | undefined;
  readonly numeric: boolean;
}

/** What a search stands on. */
export interface HoldersDeps {
  readonly crm: Crm;
  readonly now: () => number;
  /** Told how many records were read so far, where all must be. */
  readonly reading: (count: number) => void;
}

type Properties = Readonly<Record<string, PropertyValue>>;

/**
 * Looks for them. Where the CRM cannot find by value, or its index may be late, every record is read: a few calls, or one
 * for each page of the whole CRM.
 */
export const findHolders = async (deps: HoldersDeps, sought: Sought, signal: AbortSignal): Promise<Holders> =>
  (await findByValue(deps.crm, sought, signal)) ?? (await readAll(deps, sought, signal));

/** As people write it; in other spellings a number is only found by reading every record. */
function spellingsOf({ number, numeric }: Sought): readonly string[] {
  const pairs = number.replace(/(..)(?=.)/gu, '$1 ');
  const bare = number.replace(/^0+/u, '');
  if (numeric) return [bare];
  return [...new Set([number, bare, pairs, `DK${number}`, `DK ${number}`, `DK-${number}`, `DK ${pairs}`])];
}

async function findByValue({ connection }: Crm, sought: Sought, signal: AbortSignal): Promise<Holders | undefined> {
  const { match, nameProperty, number, name } = sought;
  if (connection.find === undefined) return undefined;
  const hits = new Map<string, Holder>();
  const byName: Holder[] = [];
  for (const spelling of spellingsOf(sought)) {
    const { records, sure } = await connection.find(match, spelling, signal);
    if (!sure) return undefined;
    // A CRM may fold what it compares: only what it shows is believed, where it shows it.
    for (const { id, properties } of records)
      if (!Object.hasOwn(properties, match) || isThe(number, properties[match]))
        hits.set(id, holderOf(id, properties, sought));
  }
  if (nameProperty !== undefined)
    for (const { id, properties } of (await connection.find(nameProperty, name, signal)).records)
      if (!hits.has(id)) byName.push(holderOf(id, properties, sought));
  return { byNumber: [...hits.values()], byName };
}

async function readAll({ crm, now, reading }: HoldersDeps, sought: Sought, signal: AbortSignal): Promise<Holders> {
  const { match, nameProperty, number, name } = sought;
  const byNumber = new Map<string, Holder>();
  const byName = new Map<string, Holder>();
  const properties = [...new Set([match, nameProperty].filter((one) => one !== undefined))];
  const seen = new Set<string | undefined>();
  let count = 0;
  let numbered = 0;
  let cursor: string | undefined;
  do {
    if (seen.has(cursor))
      throw new ProviderError('unavailable', `the list of companies of ${crm.name} stands still: a cursor came twice`);
    seen.add(cursor);
    const from = cursor;
    const page = await patiently({ crm, now }, () => crm.connection.scan(properties, from, signal), signal);
    for (const { id, properties: of } of page.records) {
      numbered += Object.hasOwn(of, match) ? 1 : 0;
      if (isThe(number, of[match])) byNumber.set(id, holderOf(id, of, sought));
      else if (nameProperty !== undefined && isSameName(name, of[nameProperty]))
        byName.set(id, holderOf(id, of, sought));
    }
    count += page.records.length;
    reading(count);
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (count > 0 && numbered === 0)
    throw new ProviderError(
      'refused',
      `${crm.name} shows ${match} to these credentials in no record, so no duplicate would be seen: grant it`,
    );
  return { byNumber: [...byNumber.values()], byName: [...byName.values()] };
}

const holderOf = (id: string, properties: Properties, { match, nameProperty }: Sought): Holder => ({
  id,
  number: shown(properties[match]),
  name: nameProperty === undefined ? null : shown(properties[nameProperty]),
});

const shown = (value: PropertyValue | undefined): string | null =>
  value === null || value === undefined || value === '' ? null : String(value);

function isThe(number: string, value: PropertyValue | undefined): boolean {
  const read = readCvrNumber(value);
  return (read.kind === 'number' || read.kind === 'lost-zero') && read.number === number;
}

/** Without case, punctuation and the form of the company: whether they are the same is for a person to say. */
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

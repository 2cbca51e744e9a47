/**
 * Suggests a company for records without a number when they appear or change (`autoMatch: suggest`). A suggestion waits
 * in review; nothing is linked or written before a person accepts it.
 */
import { ProviderError, type Read } from '../../../providers/provider.ts';
import { matchRecords } from '../../match/match.ts';
import { type Claim, held, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { later, settleFault, UNMENTIONED } from '../crm/settle.ts';
import { linksOf } from '../follow/change-hints.ts';
import { type RecordNumber, readNumber } from '../follow/decide-link.ts';
import { kept } from '../follow/verdict.ts';
import { readRecordText, type TextProperties, textProperties } from './record-text.ts';
import { deleteSuggestions, type MatchedRecord, putSuggestions, readRejections } from './results.ts';
import { unknownNumbers } from './valid-number.ts';

export interface SuggestDeps {
  readonly store: Store;
  readonly now: () => number;
}

const SUGGESTED: readonly string[] = ['certain', 'likely'];

/**
 * Matches the records of these lanes. One read; suggestions and settlements are one transaction. Deletes the suggestion
 * of a record that is linked, has a number, or fits no company.
 */
export async function suggestMatches(
  { store, now }: SuggestDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const settle = async (
    of: (claim: Claim) => Settlement,
    change: (tx: Tx, ours: ReadonlySet<string>) => Promise<void>,
  ) =>
    store.write(async (tx) => {
      const ours = await held(tx, claims);
      await change(tx, ours);
      const live = claims.filter(({ key }) => ours.has(key));
      await settleAll(
        tx,
        live.map((claim) => [claim, of(claim)]),
      );
    });
  try {
    const { found, unread } = await matchClaims(store, crm, claims, signal);
    const suggested = new Map(found.map((one) => [one.recordId, one]));
    await settle(
      (claim) => {
        const reason = unread.get(claim.key);
        return reason === undefined ? { kind: 'done' } : later(claim, now(), reason);
      },
      async (tx, ours) => {
        const ids = [...ours].filter((id) => !unread.has(id));
        await deleteSuggestions(
          tx,
          crm.name,
          ids.filter((id) => !suggested.has(id)),
        );
        await putSuggestions(
          tx,
          crm.name,
          ids.flatMap((id) => suggested.get(id) ?? []),
          now(),
        );
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError && error.fault === 'refused') crm.forgetSchema();
    const fault = await settleFault(error, crm.rateLimiter, now());
    await settle(fault.of, async () => {});
  }
}

interface MatchedClaims {
  readonly found: readonly MatchedRecord[];
  readonly unread: ReadonlyMap<string, string>;
}

async function matchClaims(
  store: Store,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<MatchedClaims> {
  const schema = await crm.schema(signal);
  const properties = textProperties(crm, schema);
  const links = await linksOf(
    store.db,
    crm.name,
    claims.map(({ key }) => key),
  );
  // An ended link is also a decision about this record.
  const ids = claims.map(({ key }) => key).filter((id) => !links.has(id));
  if (ids.length === 0 || crm.match === undefined || !schema.has(crm.match)) return { found: [], unread: new Map() };
  const names = [...new Set([crm.match, ...Object.values(properties).flat()])];
  const reads = await crm.connection.read(ids, names, signal);
  const unread = new Map(ids.flatMap((id, at) => reasonOf(id, reads[at])));
  const unknown = await unknownNumbers(
    store.db,
    reads.flatMap((read) => (read.kind === 'found' ? companyOf(readNumber(read.properties, crm.match)) : [])),
  );
  const blank = ids.flatMap((id, at) => recordOf(id, reads[at], { match: crm.match, properties, unknown }));
  const rejections = await readRejections(store.db, crm.name, ids);
  const results = await matchRecords(
    store.db,
    blank.map(({ record }) => record),
    { rejected: blank.map(({ recordId }) => rejections.get(recordId) ?? new Set()) },
  );
  const found = blank.flatMap((one, at) => {
    const result = results[at];
    return result !== undefined && SUGGESTED.includes(result.confidence) ? [{ ...one, position: 0, ...result }] : [];
  });
  return { found, unread };
}

function reasonOf(id: string, read: Read | undefined): readonly (readonly [string, string])[] {
  if (read === undefined) return [[id, UNMENTIONED]];
  return read.kind === 'retry' ? [[id, read.reason]] : [];
}

interface NumberSettings {
  readonly match: string | undefined;
  readonly properties: TextProperties;
  readonly unknown: ReadonlySet<string>;
}

const companyOf = (numbered: RecordNumber): readonly string[] => (numbered.kind === 'company' ? [numbered.entity] : []);

/** A record without a valid number; an invalid one may be a production unit's. */
function recordOf(
  recordId: string,
  read: Read | undefined,
  { match, properties, unknown }: NumberSettings,
): readonly Pick<MatchedRecord, 'recordId' | 'record'>[] {
  if (read?.kind !== 'found' || match === undefined) return [];
  const numbered = readNumber(read.properties, match);
  if (numbered.kind === 'unseen' || companyOf(numbered).some((entity) => !unknown.has(entity))) return [];
  return [{ recordId, record: readRecordText(properties, read.properties, kept(read.properties[match])) }];
}

/** The effect of a mapping, for its page: one record before and after, and in the background the sum over a sample. */
import type { FieldName, FieldValue } from '../../../providers/fields.ts';
import type { ConfiguredProvider } from '../../config/load.ts';
import { failureOf } from '../../connector/check.ts';
import { type Crm, type CrmDeps, openCrm } from '../../connector/crm/crm.ts';
import { type CurrentRecord, readCurrent } from '../../connector/explain/current.ts';
import { readFacts } from '../../connector/facts/facts.ts';
import { activeRecords, findLink } from '../../connector/links/links.ts';
import { countEffect, inventedRecord, type MappingEffect, scannedIds } from '../../connector/proposals/effect.ts';
import { rulesDigest, rulesOf } from '../../connector/rules/rules.ts';
import { readAndDecide } from '../../connector/sync/prepare.ts';
import { digestOf } from '../../protocol/text/digest.ts';
import type { Finding } from '../../runtime/finding.ts';
import { inventedCompany, valuesOf } from '../mapping-draft.ts';
import { inTime } from './trials.ts';

/** One record of the CRM, as a mapping would leave it. */
export interface RecordEffect {
  readonly id: string;
  /** Whether the values are those of an invented company, because the connection has no linked record. */
  readonly isInvented: boolean;
  readonly current: CurrentRecord;
  /** The register's values. */
  readonly values: ReadonlyMap<FieldName, FieldValue>;
}

/** A sum over a sample, so far. */
export interface Sum {
  readonly state: 'counting' | 'done' | 'cancelled' | 'failed';
  readonly effect: MappingEffect | undefined;
  readonly failure?: Finding;
}

export interface MappingEffects {
  /** The wanted record, or the next one; undefined if the CRM does not answer in time or has no record. */
  show(provider: ConfiguredProvider, wanted: WantedRecord): Promise<RecordEffect | undefined>;
  /** Begins a sum, which replaces the one before; `key`: whose it is. */
  begin(key: string, provider: ConfiguredProvider): void;
  look(key: string): Sum | undefined;
  cancel(key: string): void;
}

export interface WantedRecord {
  readonly id: string;
  readonly isNext: boolean;
}

/** How long a page waits for a record. */
const PATIENCE_MS = 2_500;
/** The longest duration of a sum. */
const LONGEST_MS = 10 * 60_000;
/** How long a record counts as current, for pages that refresh themselves. */
const SHOWN_MS = 5_000;
/** The sums and connections to keep; the oldest goes first. */
const MOST = 8;

interface RunningSum {
  sum: Sum;
  readonly end: AbortController;
}

export function createEffects(
  given: CrmDeps,
  { patienceMs = PATIENCE_MS, sample }: EffectOptions = {},
): MappingEffects {
  const deps: CrmDeps = { ...given, isTrial: true };
  const crms = new Map<string, Promise<Crm>>();
  const sums = new Map<string, RunningSum>();
  const opened = (provider: ConfiguredProvider): Promise<Crm> => {
    const key = digestOf([provider.name, provider.provider.name, provider.settings]);
    const known = crms.get(key) ?? openCrm(deps, provider);
    known.catch(() => crms.delete(key));
    put(crms, key, known);
    return known;
  };
  const cancel = (key: string): void => {
    const running = sums.get(key);
    if (running?.sum.state !== 'counting') return;
    running.sum = { ...running.sum, state: 'cancelled' };
    running.end.abort(new Error('cancelled'));
  };
  const shown = new Map<string, { readonly at: number; readonly effect: Promise<RecordEffect | undefined> }>();
  return {
    show(provider, wanted) {
      const key = digestOf([provider.name, rulesDigest(provider), wanted]);
      const known = shown.get(key);
      const effect =
        known !== undefined && deps.now() - known.at < SHOWN_MS
          ? known
          : {
              at: deps.now(),
              effect: opened(provider)
                .then((crm) => recordEffect(deps, { ...crm, ...rulesOf(provider) }, wanted))
                .catch(() => undefined),
            };
      put(shown, key, effect);
      return inTime(effect.effect, patienceMs);
    },
    begin(key, provider) {
      cancel(key);
      const running: RunningSum = {
        sum: { state: 'counting', effect: undefined },
        end: new AbortController(),
      };
      for (const gone of put(sums, key, running)) gone.end.abort(new Error('displaced'));
      void count(deps, { running, provider, crm: opened(provider), sample });
    },
    look: (key) => sums.get(key)?.sum,
    cancel,
  };
}

interface EffectOptions {
  readonly patienceMs?: number | undefined;
  /** Records of a sum. */
  readonly sample?: number | undefined;
}

/** Adds an entry as the newest. Returns the entries that have no room any more. */
function put<T>(entries: Map<string, T>, key: string, entry: T): readonly T[] {
  entries.delete(key);
  entries.set(key, entry);
  const gone = [...entries].slice(0, Math.max(0, entries.size - MOST));
  for (const [old] of gone) entries.delete(old);
  return gone.map(([, each]) => each);
}

interface Counted {
  readonly running: RunningSum;
  readonly provider: ConfiguredProvider;
  readonly crm: Promise<Crm>;
  readonly sample: number | undefined;
}

async function count(deps: CrmDeps, { running, provider, crm, sample }: Counted): Promise<void> {
  const { end } = running;
  const signal = AbortSignal.any([end.signal, AbortSignal.timeout(LONGEST_MS)]);
  try {
    const request = { crm: await crm, rules: rulesOf(provider), invented: inventedCompany(deps.now()) };
    for await (const effect of countEffect(deps, { ...request, ...(sample !== undefined && { sample }) }, signal))
      if (!end.signal.aborted) running.sum = { ...running.sum, effect };
    if (!end.signal.aborted) running.sum = { ...running.sum, state: 'done' };
  } catch (error) {
    if (!end.signal.aborted)
      running.sum = { ...running.sum, state: 'failed', failure: failureOf(error, provider.name, signal) };
  }
}

async function recordEffect(deps: CrmDeps, crm: Crm, { id, isNext }: WantedRecord): Promise<RecordEffect | undefined> {
  const { db } = deps.store;
  const next = async (after: string): Promise<string | undefined> =>
    (await activeRecords(db, { provider: crm.name, after, limit: 1 }))[0];
  const first = await next('');
  if (first === undefined) return inventedEffect(deps, crm, { id, isNext });
  const chosen = id !== '' && !isNext ? id : ((await next(id)) ?? first);
  const current = await readCurrent(deps, crm, { id: chosen }, PATIENCE_MS);
  const link = await findLink(db, { provider: crm.name, recordId: chosen });
  const facts = link === undefined ? [] : await readFacts(db, [link.entity]);
  return { id: chosen, isInvented: false, current, values: valuesOf(new Map(facts.map((fact) => [fact.field, fact]))) };
}

/** The effect of an invented company on one of the first records. */
async function inventedEffect(
  deps: CrmDeps,
  crm: Crm,
  { id, isNext }: WantedRecord,
): Promise<RecordEffect | undefined> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const ids: string[] = [];
  for await (const some of scannedIds({ crm, sample: CHOICE }, signal)) ids.push(...some);
  const at = ids.indexOf(id);
  const chosen = at >= 0 && !isNext ? id : (ids[at + 1] ?? ids[0]);
  if (chosen === undefined) return undefined;
  const schema = await crm.schema(signal);
  const company = inventedCompany(deps.now());
  const records = [inventedRecord(company, chosen)];
  const { found } = await readAndDecide(deps, { crm, schema, match: undefined, records }, signal);
  const planned = found[0]?.planned;
  const current: CurrentRecord = planned === undefined ? { kind: 'hold' } : { kind: 'compared', planned };
  return { id: chosen, isInvented: true, current, values: valuesOf(company.facts) };
}

/** Records to choose from before any is linked. */
const CHOICE = 50;

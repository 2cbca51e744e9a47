/** Live checks of a set-up. Each runs in the background, and a page shows its results so far. */
import type { Property, PropertyDefinition } from '../../../providers/provider.ts';
import type { ConfiguredProvider } from '../../config/load.ts';
import { failureOf } from '../../connector/check.ts';
import { type Crm, type CrmDeps, openCrm } from '../../connector/crm/crm.ts';
import { makeProperties } from '../../connector/crm/make-properties.ts';
import { type CrmAccess, tryAccess, UNTRIED } from '../../connector/try-access.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { type AuditEntry, recordAudit } from '../../runtime/operators/audit.ts';
import { type Sampled, sampleNumbers } from './sample-numbers.ts';

/** How long a page waits before it says that no answer has come. */
const PATIENCE_MS = 2_500;
/** The longest duration of a check. */
const LONGEST_MS = 30_000;

/** How long a survey counts, for somebody who goes from page to page. */
const SURVEY_MS = 60_000;

interface Trial {
  readonly startedAt: number;
  readonly over: Promise<void>;
  access: CrmAccess;
}

/** What is known of a connection's access, and when the check began. */
export interface ShownTrial {
  readonly access: CrmAccess;
  readonly waitedMs: number;
}

interface Unread {
  readonly ok: false;
  readonly failure: Finding;
}

/** The properties of a CRM, or why they cannot be read. */
export type PropertyListing = { readonly ok: true; readonly properties: readonly Property[] } | Unread;

/** The properties, with those that hold numbers. */
export type PropertySurvey =
  | { readonly ok: true; readonly properties: readonly Property[]; readonly sampled: Sampled }
  | Unread;

export interface Trials {
  /** Discards the results of a connection's check and begins again. */
  begin(provider: ConfiguredProvider): void;
  /** What is known within {@link PATIENCE_MS}; begins a check if none runs. */
  look(provider: ConfiguredProvider): Promise<ShownTrial>;
  /** Undefined if late. Read once a minute, and again after a failure. */
  list(provider: ConfiguredProvider): Promise<PropertyListing | undefined>;
  /** Undefined if late. Read once a minute, and again after a failure. */
  survey(provider: ConfiguredProvider): Promise<PropertySurvey | undefined>;
  /**
   * Creates properties, with entries in the audit before and after, and discards the survey. Undefined if it takes
   * longer: it then goes on. Begins none while another runs.
   */
  create(
    provider: ConfiguredProvider,
    missing: readonly PropertyDefinition[],
    by: Pick<AuditEntry, 'actor' | 'via'>,
  ): Promise<Findings | undefined>;
  /** The result of the latest creation in a connection, for a minute after its end. */
  created(provider: ConfiguredProvider): 'goes-on' | Findings | undefined;
}

/** Keeps results for a minute, by connection; failures not at all. */
function keepResults<R extends { readonly ok: boolean }>(now: () => number) {
  const known = new Map<string, { readonly at: number; readonly result: Promise<R> }>();
  return {
    get(name: string, read: () => Promise<R>): Promise<R> {
      const former = known.get(name);
      if (former !== undefined && now() - former.at < SURVEY_MS) return former.result;
      const current = { at: now(), result: read() };
      known.set(name, current);
      const settled = ({ ok }: R): void => void (!ok && known.get(name) === current && known.delete(name));
      current.result.then(settled, () => undefined);
      return current.result;
    },
    forget: (name: string) => void known.delete(name),
  };
}

interface Creation {
  readonly over: Promise<Findings>;
  ended: { readonly at: number; readonly made: Findings } | undefined;
}

type Listed = { readonly ok: true; readonly crm: Crm; readonly properties: readonly Property[] } | Unread;

export function createTrials(given: CrmDeps, patienceMs = PATIENCE_MS): Trials {
  const deps: CrmDeps = { ...given, isTrial: true };
  const trials = new Map<string, Trial>();
  const lists = keepResults<Listed>(deps.now);
  const surveys = keepResults<PropertySurvey>(deps.now);
  const forget = (name: string): void => {
    lists.forget(name);
    surveys.forget(name);
  };
  const begin = (provider: ConfiguredProvider): Trial => {
    forget(provider.name);
    const trial: Trial = {
      startedAt: performance.now(),
      access: UNTRIED,
      over: Promise.resolve().then(async () => {
        const steps = tryAccess(deps, provider, AbortSignal.timeout(LONGEST_MS));
        for await (const access of steps) trial.access = access;
      }),
    };
    trials.set(provider.name, trial);
    return trial;
  };
  const tried = async <R>(
    { name }: ConfiguredProvider,
    read: (signal: AbortSignal) => Promise<R>,
  ): Promise<R | Unread> => {
    const signal = AbortSignal.timeout(LONGEST_MS);
    return read(signal).catch((error: unknown) => ({ ok: false, failure: failureOf(error, name, signal) }));
  };
  const list = (provider: ConfiguredProvider): Promise<Listed> =>
    lists.get(provider.name, () =>
      tried(provider, async (signal) => {
        const crm = await openCrm({ ...deps, probes: true }, provider);
        return { ok: true, crm, properties: await crm.connection.properties(signal) } as const;
      }),
    );
  const survey = (provider: ConfiguredProvider): Promise<PropertySurvey> =>
    surveys.get(provider.name, async () => {
      const listed = await list(provider);
      if (!listed.ok) return listed;
      const { crm, properties } = listed;
      return tried(provider, async (signal) => {
        return { ok: true, properties, sampled: await sampleNumbers(crm, properties, signal) } as const;
      });
    });
  return {
    begin: (provider) => void begin(provider),
    async look(provider) {
      const trial = trials.get(provider.name) ?? begin(provider);
      await inTime(trial.over, patienceMs);
      return { access: trial.access, waitedMs: performance.now() - trial.startedAt };
    },
    list: (provider) => inTime(list(provider), patienceMs),
    survey: (provider) => inTime(survey(provider), patienceMs),
    ...openCreations(deps, { patienceMs, forget }),
  };
}

function openCreations(
  deps: CrmDeps,
  { patienceMs, forget }: { readonly patienceMs: number; readonly forget: (name: string) => void },
): Pick<Trials, 'create' | 'created'> {
  const creations = new Map<string, Creation>();
  const make = async (
    provider: ConfiguredProvider,
    missing: readonly PropertyDefinition[],
    by: Pick<AuditEntry, 'actor' | 'via'>,
  ): Promise<Findings> => {
    const detail = { properties: missing.map(({ name }) => name) };
    const entry = { ...by, action: 'property.create', subject: provider.name, detail };
    const record = (result: string) => deps.store.write((tx) => recordAudit(tx, { ...entry, result }, deps.now()));
    const signal = AbortSignal.timeout(LONGEST_MS);
    try {
      const crm = await openCrm({ ...deps, probes: true }, provider);
      await record('begun');
      const made = await makeProperties(deps, crm, missing, signal);
      const lacks = made.filter(({ level }) => level !== 'ok').map(({ subject, found }) => `${subject}: ${found}`);
      await record([`${made.length - lacks.length} created`, ...lacks].join('; '));
      return made;
    } catch (error) {
      await record('failed');
      return [failureOf(error, provider.name, signal)];
    } finally {
      forget(provider.name);
    }
  };
  return {
    create(provider, missing, by) {
      const { name } = provider;
      const known = creations.get(name);
      if (known !== undefined && known.ended === undefined) return inTime(known.over, patienceMs);
      const creation: Creation = { over: make(provider, missing, by), ended: undefined };
      creations.set(name, creation);
      creation.over.then(
        (made) => {
          creation.ended = { at: deps.now(), made };
        },
        // The audit could not be written: the waiting page reports the error.
        () => creations.delete(name),
      );
      return inTime(creation.over, patienceMs);
    },
    created({ name }) {
      const creation = creations.get(name);
      if (creation === undefined || creation.ended === undefined) return creation && 'goes-on';
      return deps.now() - creation.ended.at < SURVEY_MS ? creation.ended.made : undefined;
    },
  };
}

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

/** The result of work that may take too long for a page: undefined if it is late. */
export function inTime<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T | undefined> {
  // Nobody waits for a late failure.
  work.catch(() => undefined);
  return Promise.race([work, after(patienceMs).then(() => undefined)]);
}

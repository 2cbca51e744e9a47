/** Live checks of a set-up: each goes on by itself, and a page shows what is known of it by then. */
import type { Property, PropertyDefinition } from '../../providers/provider.ts';
import type { ConfiguredProvider } from '../config/load.ts';
import { failureOf } from '../connector/check.ts';
import { type CrmDeps, openCrm } from '../connector/crm/crm.ts';
import { makeProperties } from '../connector/crm/make-properties.ts';
import { type CrmAccess, tryAccess, UNTRIED } from '../connector/try-access.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import { type Sampled, sampleNumbers } from './sample-numbers.ts';

/** How long a page waits for answers before it says that there are none yet, in ms. */
const PATIENCE_MS = 2_500;
/** How long a check goes on, in ms. */
const LONGEST_MS = 30_000;

/** For so long a survey is not read again, in ms: somebody goes from page to page. */
const SURVEY_MS = 60_000;

/** Work that goes on, whoever looks at it. */
interface Trial {
  readonly startedAt: number;
  readonly over: Promise<void>;
  access: CrmAccess;
}

/** What is known of a connection's access, and since when it is asked. */
export interface ShownTrial {
  readonly access: CrmAccess;
  readonly waitedMs: number;
}

/** The properties of a CRM, and which of them hold numbers; or why that cannot be read. */
export type PropertySurvey =
  | { readonly ok: true; readonly properties: readonly Property[]; readonly sampled: Sampled }
  | { readonly ok: false; readonly failure: Finding };

/** The checks of a set-up. */
export interface Trials {
  /** Begins to try a connection again; what is known of it is forgotten. */
  begin(provider: ConfiguredProvider): void;
  /** What is known within {@link PATIENCE_MS}; begins if nobody did. */
  look(provider: ConfiguredProvider): Promise<ShownTrial>;
  /** Undefined if it is not there in time. Read once a minute, and again where that failed. */
  survey(provider: ConfiguredProvider): Promise<PropertySurvey | undefined>;
  /** Makes properties, and forgets the survey. */
  create(provider: ConfiguredProvider, missing: readonly PropertyDefinition[]): Promise<Findings | undefined>;
}

export function createTrials(deps: CrmDeps, patienceMs = PATIENCE_MS): Trials {
  const trials = new Map<string, Trial>();
  const surveys = new Map<string, { readonly at: number; readonly survey: Promise<PropertySurvey> }>();
  const begin = (provider: ConfiguredProvider): Trial => {
    surveys.delete(provider.name);
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
  const surveyed = async (provider: ConfiguredProvider): Promise<PropertySurvey> => {
    const signal = AbortSignal.timeout(LONGEST_MS);
    try {
      const crm = await openCrm({ ...deps, probes: true }, provider);
      const properties = await crm.connection.properties(signal);
      return { ok: true, properties, sampled: await sampleNumbers(crm, properties, signal) };
    } catch (error) {
      surveys.delete(provider.name);
      return { ok: false, failure: failureOf(error, provider.name, signal) };
    }
  };
  return {
    begin: (provider) => void begin(provider),
    async look(provider) {
      const trial = trials.get(provider.name) ?? begin(provider);
      await inTime(trial.over, patienceMs);
      return { access: trial.access, waitedMs: performance.now() - trial.startedAt };
    },
    survey(provider) {
      const known = surveys.get(provider.name);
      const isFresh = known !== undefined && deps.now() - known.at < SURVEY_MS;
      const current = isFresh ? known : { at: deps.now(), survey: surveyed(provider) };
      surveys.set(provider.name, current);
      return inTime(current.survey, patienceMs);
    },
    async create(provider, missing) {
      const signal = AbortSignal.timeout(LONGEST_MS);
      const work = async (): Promise<Findings> => {
        try {
          const crm = await openCrm({ ...deps, probes: true }, provider);
          return await makeProperties(deps, crm, missing, signal);
        } catch (error) {
          return [failureOf(error, provider.name, signal)];
        } finally {
          surveys.delete(provider.name);
        }
      };
      return inTime(work(), CREATE_MS);
    },
  };
}

/** A CRM makes some properties in a second, and forty in ten. */
const CREATE_MS = 20_000;

const after = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

/** The result of work that may take too long for a page: undefined if it is not there in time. */
export function inTime<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T | undefined> {
  // Nobody waits for a failure that comes later.
  work.catch(() => undefined);
  return Promise.race([work, after(patienceMs).then(() => undefined)]);
}

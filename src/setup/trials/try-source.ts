/** Tests the chosen source of changes with the calls of `check`. */
import { type Config, checkConfig } from '../../config/load.ts';
import { type ConfigProblem, fill } from '../../config/schema/fill.ts';
import { type Env, readerIn, substitute } from '../../config/variables.ts';
import { checkUpstream } from '../../connector/check.ts';
import type { CrmDeps } from '../../connector/crm/crm.ts';
import type { Findings } from '../../runtime/finding.ts';
import { checkRegisters } from '../../service/check-register.ts';
import { folderOf, registerOf, type SetUpPlace } from '../config-of.ts';
import { SOURCE } from '../draft.ts';
import type { Settings } from '../questions.ts';
import { inTime } from './trials.ts';

/** The answers with their secrets, and the errors in them. */
export interface SourceReading {
  readonly settings: Settings;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the answers to {@link SOURCE}, whose secrets are in files. */
export function readSource(
  given: Settings,
  { place, env }: { readonly place: SetUpPlace; readonly env: Env },
): SourceReading {
  const [errors, missing]: [ConfigProblem[], ConfigProblem[]] = [[], []];
  const whole = substitute(given, '', { env, read: readerIn(folderOf(place)) }, { errors, missing });
  const problems: ConfigProblem[] = [...errors, ...missing];
  const filled = fill(SOURCE, whole, '', problems);
  return { settings: { ...Object(Object(filled).changes) }, problems };
}

/** The longest duration of the test. */
const LONGEST_MS = 10_000;

/** The source's answer; undefined if late. */
export function trySource(
  deps: CrmDeps,
  { settings }: SourceReading,
  connections: readonly string[],
  place: SetUpPlace,
): Promise<Findings | undefined> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  return inTime(tried(deps, settings, { connections, place, signal }));
}

async function tried(
  deps: CrmDeps,
  { source, ...answers }: Settings,
  {
    connections,
    place,
    signal,
  }: { readonly connections: readonly string[]; readonly place: SetUpPlace; readonly signal: AbortSignal },
): Promise<Findings> {
  if (source === 'service') {
    const { baseUrl, accessKey } = answers;
    const upstream = { baseUrl: String(baseUrl), accessKey: String(accessKey), requestsPerMinute: REQUESTS };
    return checkUpstream(deps, { upstream, providers: connections.map((name) => ({ name })) }, signal);
  }
  // A page waits for this, and it takes a query for each entity.
  const speed = source === 'datafordeler' ? { requestsPerSecond: 20 } : {};
  const register = await withDefaults({ ...registerOf(source, answers, place), ...speed }, place);
  return register === undefined ? [] : checkRegisters(deps, { register }, signal);
}

const REQUESTS = 500;

async function withDefaults(
  register: Settings,
  { file }: SetUpPlace,
): Promise<NonNullable<Config['service']>['register'] | undefined> {
  const load = await checkConfig({ service: { register } }, file, {});
  return load.ok ? load.config.service?.register : undefined;
}

/** The findings of `check` on the register: whether it answers, and how far it has been read. */
import type { OutboundHttp } from '../http/outbound/client.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Findings } from '../runtime/finding.ts';
import type { Store } from '../store/store.ts';
import { DAY_MS, isKeyEnding } from './key-end.ts';
import type { RegisterSource } from './register/source/source.ts';
import { readCount, readMissing } from './register/watch/count-documents.ts';
import { differsTooMuch, readDifferences } from './register/watch/origins/second-readings.ts';
import { BEHIND_MS, errorsText, readProgress } from './register/watch/progress.ts';
import { WITHHELD_KEY, WITHHELD_QUEUE } from './register/watch/withheld.ts';
import type { DatafordelerSettings, RegisterSettings, ServiceSettings } from './service-settings.ts';
import { openSource, registerPlace, registersOf } from './sources.ts';

export interface RegisterCheckDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly now: () => number;
}

const subject = 'register';

const UNREACHABLE: Readonly<Record<RegisterSettings['source'], string>> = {
  file: 'put register documents there, or name where they are: a relative path starts at the working directory',
  cvr: 'check service.register: baseUrl, username, password, and whether this machine may reach it',
  datafordeler: 'check service.register: apiKey or oauth, graphqlUrl, and whether this machine may reach it',
};

export async function checkRegisters(
  deps: RegisterCheckDeps,
  settings: Pick<ServiceSettings, 'register'>,
  signal: AbortSignal,
): Promise<Findings> {
  const found = await Promise.all(registersOf(settings).map((register) => checkRegister(deps, register, signal)));
  return [...found.flat(), ...(await checkCount(deps)), ...(await checkLimit(deps)), ...(await checkDifferences(deps))];
}

async function checkRegister(
  deps: RegisterCheckDeps,
  register: RegisterSettings,
  signal: AbortSignal,
): Promise<Findings> {
  const from = registerPlace(register);
  const source = openSource(register.source === 'cvr' ? { ...register, pageSize: 1 } : register, deps);
  const lag = await checkLag(deps, source);
  try {
    if (register.source === 'datafordeler')
      return [...(await checkDatafordeler(register, source, deps.now(), signal)), ...lag];
    const [first] = (await source.page(undefined, signal)).documents;
    if (first !== undefined) return lag.length > 0 ? lag : [{ level: 'ok', subject, found: `${from} gives documents` }];
    const advice =
      register.source === 'file'
        ? 'put register documents there'
        : 'make sure that service.register.since is in the past';
    return [...lag, { level: 'warn', subject, found: `${from} answers, but gives no document`, advice }];
  } catch (error) {
    return [...lag, { level: 'fail', subject, found: reasonOf(error, signal), advice: UNREACHABLE[register.source] }];
  } finally {
    await source.close?.();
  }
}

/** How often a source states another value than the leading one. */
async function checkDifferences({ store: { db }, now }: RegisterCheckDeps): Promise<Findings> {
  const advice =
    'compare an example with the register itself, and name the source that is right first in service.register: the first one leads';
  return (await readDifferences(db, now())).map((differences) => {
    const { origin, compared, differing, byEvent, example } = differences;
    const kinds = Object.entries(byEvent).map(([event, count]) => `${count} in ${event}`);
    const which = differing === 0 ? '' : `: ${kinds.join(', ')}; for example ${example}`;
    const found = `${origin} differs from the leading source in ${differing} of ${compared} companies and production units${which}`;
    return differsTooMuch(differences) ? { level: 'warn', subject, found, advice } : { level: 'info', subject, found };
  });
}

/** Whether the feed and every entity can be read, and when the credentials end. */
async function checkDatafordeler(
  register: DatafordelerSettings,
  source: RegisterSource,
  now: number,
  signal: AbortSignal,
): Promise<Findings> {
  const refused = (await source.probe?.(signal)) ?? [];
  const advice = 'see what the IT system may read, in Datafordeler Administration';
  return [
    { level: 'ok', subject, found: `${register.graphqlUrl} gives the feed of changes` },
    ...refused.map((found) => ({ level: 'warn', subject, found, advice }) as const),
    ...checkKeyEnd(register, now),
  ];
}

function checkKeyEnd(register: DatafordelerSettings, now: number): Findings {
  const { apiKeyEnds } = register;
  if (apiKeyEnds === undefined || !isKeyEnding(apiKeyEnds, now)) return [];
  const isOver = Date.parse(`${apiKeyEnds}T00:00:00Z`) < now - DAY_MS;
  const found = `the credentials of Datafordeler ${isOver ? 'ended' : 'end'} on ${apiKeyEnds}`;
  const advice = 'make new ones in Datafordeler Administration, and set service.register.apiKeyEnds';
  return [{ level: isOver ? 'fail' : 'warn', subject, found, advice }];
}

async function checkCount({ store: { db } }: RegisterCheckDeps): Promise<Findings> {
  const { at, counts = [] } = (await readCount(db)) ?? {};
  const missing = await readMissing(db);
  const when = at === undefined ? '' : ` at ${new Date(at).toISOString().slice(0, 19)}Z`;
  const advice =
    'cvrsync reads the whole register again in addition to what is new, and counts again: see what its log says';
  return counts.map(({ part, source, stored }) => {
    const found = `the register counted ${source} ${part}${when}, ${stored} are stored`;
    return missing.some((one) => one.part === part)
      ? { level: 'warn', subject, found, advice }
      : { level: 'info', subject, found };
  });
}

async function checkLimit({ store: { db } }: RegisterCheckDeps): Promise<Findings> {
  const lane = await db
    .selectFrom('lane')
    .select('error')
    .where('queue', '=', WITHHELD_QUEUE)
    .where('parked_at', 'is not', null)
    .executeTakeFirst();
  const advice = `cvrsync review accept 'lane/${WITHHELD_QUEUE}/${WITHHELD_KEY}' publishes it, review keep leaves the stored values`;
  return lane === undefined
    ? []
    : [{ level: 'fail', subject: 'safety limit', found: lane.error ?? 'facts of many companies are withheld', advice }];
}

/** Finds parts of the register that were not read for long, or never although another was. */
async function checkLag({ store: { db }, now }: RegisterCheckDeps, source: RegisterSource): Promise<Findings> {
  const progress = (await readProgress(db, [source])) ?? { parts: [], errors: [] };
  const { parts } = progress;
  const error = errorsText(progress, true);
  const why = error === null ? '' : `: ${error}`;
  return parts
    .filter(({ readAt }) => now() - readAt > BEHIND_MS)
    .map(({ name, readAt }) => ({
      level: 'fail',
      subject,
      found: `the ${name} were ${readAt === 0 ? 'never read' : `last read at ${new Date(readAt).toISOString().slice(0, 19)}Z`}${why}`,
      advice: 'check that the daemon runs, and what its log says about the register',
    }));
}

export function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'did not answer in time';
  return errorText(error);
}

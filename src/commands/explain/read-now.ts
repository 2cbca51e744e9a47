/** Reads the current values of a timeline's records, or the reason why a CRM cannot be called. */
import type { PropertyEdit } from '../../../providers/provider.ts';
import { type Crm, openCrm } from '../../connector/crm/crm.ts';
import { type CurrentRecord, readCurrents } from '../../connector/explain/current.ts';
import type { Timeline } from '../../connector/explain/timeline.ts';
import { createMetrics } from '../../http/metrics.ts';
import { openClient } from '../../http/outbound/client.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { Store } from '../../store/store.ts';
import { connectionPart } from '../arguments/with-monitoring.ts';
import { type CommandContext, ConfigError } from '../cli/context.ts';
import type { ExplainedRecord } from './answer.ts';

/** The most records of one company to read: a person looks at no more. */
const MOST = 5;
const LIMIT_MS = 15_000;
/** How far back to ask the CRM for edits of a property. */
const EDITS_MS = 90 * 86_400_000;

export async function readNow(
  context: CommandContext,
  store: Store,
  { links }: Timeline,
  property: string | undefined,
): Promise<readonly ExplainedRecord[]> {
  const active = links.filter(({ state }) => state === 'active').slice(0, MOST);
  const client = openClient({ env: context.env });
  try {
    const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now };
    const groups = [...Map.groupBy(active, ({ provider }) => provider)].map(async ([provider, some]) => {
      const ids = some.map(({ record }) => record);
      const read = await openFor(context, provider, deps);
      if (typeof read === 'string')
        return ids.map((recordId) => ({ provider, recordId, current: silent(read), edits: [] }));
      const records = ids.map((id) => ({ id }));
      const currents = await readCurrents(deps, read, records, LIMIT_MS);
      return Promise.all(
        currents.map(async (current, index) => {
          const recordId = ids[index] ?? '';
          return { provider, recordId, current, edits: await editsOf(read, recordId, current, property) };
        }),
      );
    });
    return (await Promise.all(groups)).flat();
  } finally {
    await client.close();
  }
}

const silent = (reason: string): CurrentRecord => ({ kind: 'silent', reason });

async function openFor(
  context: CommandContext,
  name: string,
  deps: Parameters<typeof openCrm>[0],
): Promise<Crm | string> {
  try {
    const { connector } = await context.config([connectionPart(name)]);
    const config = connector?.providers.find((each) => each.name === name);
    return config === undefined ? `${name} is no longer configured` : await openCrm({ ...deps, isTrial: true }, config);
  } catch (error) {
    return error instanceof ConfigError ? error.problems.map(({ message }) => message).join('; ') : errorText(error);
  }
}

/** Who edited the differing properties; empty if the CRM does not say. */
async function editsOf(
  { connection }: Crm,
  id: string,
  current: CurrentRecord,
  property: string | undefined,
): Promise<readonly PropertyEdit[]> {
  if (connection.edits === undefined || current.kind !== 'compared') return [];
  const names = current.planned.flatMap((each) =>
    each.property.toLowerCase() === property?.toLowerCase() || (property === undefined && each.rule === 'edited')
      ? each.property
      : [],
  );
  if (names.length === 0) return [];
  return connection
    .edits([id], names, Date.now() - EDITS_MS, AbortSignal.timeout(LIMIT_MS))
    .catch((): readonly PropertyEdit[] => []);
}

/** Operations on a whole connection: leave it, and return to it. */
import Type from 'typebox';
import { LEAVE, type LeaveJob, readOpenLeave } from '../../connector/leave/leave-task.ts';
import { countEndedLinks, countOpenLinks, restartEndedLinks } from '../../connector/links/end-all.ts';
import { endLeft, readLeft } from '../../connector/links/left.ts';
import { requestPreview } from '../../runtime/runs/runs.ts';
import { lockUntilCommit } from '../../store/advisory-lock.ts';
import type { Db, Tx } from '../../store/store.ts';
import {
  type Done,
  defineOperation,
  type Ground,
  invalid,
  type Moment,
  type Recording,
  Refused,
} from '../definition/operation.ts';
import { runId } from '../installation/runs.ts';
import { type ConnectorNeeds, recordProperties } from './records.ts';

const ADMIN = { role: 'admin' } as const;
const { provider } = recordProperties;

export const requestLeave = defineOperation({
  ...ADMIN,
  name: 'leave.preview',
  about:
    'preview leaving a CRM: the links that end, the values and properties that go; it begins once the run is confirmed',
  more: 'Once confirmed, nothing is read, written or linked there until connection.return.',
  input: Type.Object({
    provider,
    undo: Type.Boolean({ default: false, description: 'Restore what cvrsync replaced, where the CRM still holds it' }),
    removeProperties: Type.Boolean({
      default: false,
      description: 'Remove the properties that cvrsync created, if they hold nothing that others wrote',
    }),
  }),
  api: {
    method: 'POST',
    path: '/runs/leave',
    operationId: 'previewLeave',
    status: 200,
    answer: Type.Object({ id: runId }),
    examples: [{ provider: 'hubspot', undo: true, removeProperties: true }],
    refusals: { 409: 'It was left, and nothing is left to do there' },
  },
  async change(tx, input, context: ConnectorNeeds & Moment): Promise<Done<{ readonly id: number }>> {
    const { now, actor, via } = context;
    // Two concurrent callers wait for each other.
    await lockUntilCommit(tx, 'leaving', 'exclusive');
    await needKnown(tx, input, context);
    const open = await readOpenLeave(tx, input.provider);
    if (open !== undefined) return { value: { id: sameLeave(open, input) } };
    await needWork(tx, input);
    return { value: { id: await requestPreview(tx, LEAVE, { input, actor, via }, now) } };
  },
});

interface LeaveInput {
  readonly provider: string;
  readonly undo: boolean;
  readonly removeProperties: boolean;
}

/** The open run, if it does what the request asks for: confirming it must not do more, or less. */
function sameLeave({ id, input }: LeaveJob, { provider, undo, removeProperties }: LeaveInput): number {
  if (input.undo === undo && input.removeProperties === removeProperties) return id;
  throw new Refused('conflict', `run ${id} is leaving ${provider} with other options: cancel it first`);
}

/**
 * Refuses a name without a connection. A connection that is no longer configured can be left without calls to its CRM.
 */
async function needKnown(db: Db, { provider, undo, removeProperties }: LeaveInput, { crms }: ConnectorNeeds) {
  if (crms.some(({ name }) => name === provider)) return;
  const { links } = await countOpenLinks(db, provider);
  if (links === 0) throw notConfigured(provider, crms);
  if (undo || removeProperties)
    throw invalid(
      '/provider',
      `is no longer configured, but has ${links} links: leave it without undo and removal, or configure it again first`,
    );
}

/** One kind of CRM may have several connections, so only a connection's name identifies it. */
function notConfigured(provider: string, crms: ConnectorNeeds['crms']): Refused {
  const ofKind = crms.filter((each) => each.provider.name === provider).map(({ name }) => name);
  if (ofKind.length > 0)
    return invalid('/provider', `is a kind of CRM: name one of its connections, ${ofKind.join(', ')}`);
  const names = crms.map(({ name }) => name).join(', ');
  return invalid('/provider', `is no configured connection: there is ${names === '' ? 'none' : names}`);
}

async function needWork(tx: Tx, { provider, undo, removeProperties }: LeaveInput): Promise<void> {
  const left = await readLeft(tx, provider);
  if (left === undefined || undo || removeProperties || (await countOpenLinks(tx, provider)).links > 0) return;
  throw new Refused('conflict', `${provider} was left at ${new Date(left.at).toISOString()} by ${left.by}`);
}

interface ReturnNeeds extends ConnectorNeeds {
  readonly signal?: AbortSignal | undefined;
}

export const returnTo = defineOperation({
  ...ADMIN,
  name: 'connection.return',
  about: 'return to a CRM that was left: restart the links that ended then, and their monitoring',
  more: 'What an undo restored stays on hold. Removed properties have to be created again.',
  input: Type.Object({ provider }),
  api: {
    method: 'POST',
    path: '/connections/return',
    operationId: 'returnTo',
    status: 200,
    answer: Type.Object({ provider: Type.String(), count: Type.Integer({ description: 'How many links restarted' }) }),
    examples: [{ provider: 'hubspot' }],
    refusals: { 409: 'It was not left, or is being left now' },
  },
  async preview(db, { provider }, context: ConnectorNeeds & Moment) {
    await needLeft(db, provider, context);
    return { count: await countEndedLinks(db, provider) };
  },
  // In pages, because they may be many. It continues after an interruption of any kind.
  async steps({ provider }, context: ReturnNeeds & Ground & Moment & Recording) {
    const { store, now, record, signal = new AbortController().signal } = context;
    let count = 0;
    const recorded = (tx: Tx, before?: number): Promise<number> =>
      record(tx, { subject: provider, result: `${count} links restarted` }, before);
    const entry = await store.write(async (tx) => {
      await lockUntilCommit(tx, 'leaving', 'exclusive');
      await needLeft(tx, provider, context);
      await endLeft(tx, provider);
      return recorded(tx);
    });
    for (let after: string | undefined = ''; after !== undefined; ) {
      signal.throwIfAborted();
      const from: string = after;
      const before = count;
      const links = await store.write(async (tx) => {
        const restarted = await restartEndedLinks(tx, provider, from, now);
        count = before + restarted.length;
        await recorded(tx, entry);
        return restarted;
      });
      after = links.at(-1)?.record_id;
    }
    return { provider, count };
  },
});

async function needLeft(db: Db, provider: string, { crms }: ConnectorNeeds): Promise<void> {
  const open = await readOpenLeave(db, provider);
  if (open?.stage === 'run') throw new Refused('conflict', `run ${open.id} is leaving ${provider}: cancel it first`);
  if (!crms.some(({ name }) => name === provider)) throw notConfigured(provider, crms);
  if ((await readLeft(db, provider)) === undefined && (await countEndedLinks(db, provider)) === 0)
    throw new Refused('conflict', `${provider} was not left`);
}

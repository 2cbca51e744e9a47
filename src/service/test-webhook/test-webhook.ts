import { randomUUID } from 'node:crypto';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import type { HttpFaultKind } from '../../http/outbound/fault.ts';
import { type WireOptions, type Writable, writePayload } from '../../protocol/payload.ts';
import { samplePayload } from '../../protocol/sample/stream.ts';
import type { Db } from '../../store/store.ts';
import { withoutBeneficialOwners } from '../changes/beneficial-owners.ts';
import { post, type Webhook } from '../delivery/post.ts';
import { readFullStates } from '../items/full-state.ts';
import { stateOf } from '../register/diff/state.ts';
import { todayAt } from '../register/document/today.ts';
import { newReportOf } from '../reports/deprecated.ts';
import { latestReports } from '../reports/store-filing.ts';

export interface TestDeps extends WireOptions {
  /** A client of openWebhookClient: guarded, with its deadlines. */
  readonly http: OutboundHttp;
  readonly now: () => number;
  readonly beneficialOwners?: boolean;
  readonly deprecatedReport?: boolean;
}

export interface TestResult {
  /** `status`: an answer other than 2xx; the {@link HttpFaultKind} if no answer came; null: success. */
  readonly failure: string | null;
  readonly status: number | null;
  readonly took: number;
  /** The result in one sentence. */
  readonly message: string;
  /** The first KiB of the answer, with spaces for control characters. */
  readonly answer: string;
}

/** Why the webhook did not answer; `address`: cvrsync blocks the address. */
export const TEST_FAULTS = [
  'dns',
  'refused',
  'tls',
  'timeout',
  'cut',
  'too-large',
  'network',
  'address',
] as const satisfies readonly HttpFaultKind[];

const SHOWN = 1_024;

/**
 * Posts one payload, or a given body, with the header `webhook-test`, as {@link testMonitor} does. Does not affect
 * the health of a monitor. Answers within 15 s.
 */
export async function testWebhook(
  deps: TestDeps,
  webhook: Webhook,
  payload: Writable | string,
  signal: AbortSignal,
): Promise<TestResult> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(writePayload(payload, deps));
  const message = { id: `msg_${randomUUID()}`, body, attempt: 1, headers: { 'webhook-test': 'true' } };
  const posted = await post(deps.http, webhook, message, { now: deps.now, signal });
  if (posted === undefined) throw new Error('the test of a webhook was stopped', { cause: signal.reason });
  const { status, fault, error, took } = posted;
  const taken = posted.outcome.kind === 'done';
  return {
    failure: taken ? null : (fault ?? 'status'),
    status,
    took,
    message: taken ? `The webhook answered ${status}.` : (error ?? ''),
    answer: posted.answer.slice(0, SHOWN).replaceAll(/\p{Cc}+/gu, ' '),
  };
}

interface TestedState extends Pick<TestDeps, 'beneficialOwners' | 'deprecatedReport'> {
  readonly now: number;
  readonly placeType: string;
}

/**
 * The payload of a test: the whole state of a company with its newest report, or that of an invented company.
 * Undefined for an unknown company.
 */
export async function testPayload(
  db: Db,
  entity: string | undefined,
  { now, placeType, beneficialOwners = false, deprecatedReport = false }: TestedState,
): Promise<Writable | undefined> {
  if (entity === undefined) return samplePayload({ now });
  const state = (await readFullStates(db, [entity])).get(entity);
  if (state === undefined) return undefined;
  const updates = stateOf(state.company, { today: todayAt(now), placeType, isRecoded: () => false });
  const allowed = beneficialOwners ? updates : withoutBeneficialOwners(updates);
  const report = (await latestReports(db, [entity])).get(entity);
  const newReport = report && { newReport: newReportOf(report, deprecatedReport) };
  return { entityId: entity, timestamp: state.timestamp, updates: { ...allowed, ...newReport } };
}

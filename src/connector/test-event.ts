/** Events that a sender marks as a test: the audit shows what they would do, and nothing else is stored. */
import { type CallLimit, createCallLimit } from '../http/server/call-limit.ts';
import { readPayload, type WireOptions } from '../protocol/payload.ts';
import { errorText } from '../protocol/text/error-text.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import type { Store } from '../store/store.ts';
import type { Crm } from './crm/crm.ts';
import type { CurrentRecord } from './explain/current.ts';
import { type Preview, preview } from './replay.ts';

export interface TestEventDeps extends WireOptions {
  readonly store: Store;
  readonly crms: readonly Crm[];
  readonly now: () => number;
  readonly log: { info(details: object, message: string): void };
}

/** A sender waits 15 s for its answer. */
const CRM_LIMIT_MS = 3_000;
/** Each test reads records of the CRMs and stays in the audit. */
const TESTS_A_MINUTE = 10;
const MOST_RECORDS = 10;

/**
 * Writes to the audit and the log what a test would write. Returns why the body is not a payload; undefined if it is
 * one.
 */
export function createTestViewer(deps: TestEventDeps): (json: unknown) => Promise<string | undefined> {
  const limit: CallLimit = createCallLimit(TESTS_A_MINUTE);
  return async (json) => {
    const read = readPayload(json, deps);
    if (!read.ok) return read.errors.map(({ path, message }) => `${path} ${message}`.trim()).join('; ');
    if (limit('') !== undefined) return undefined;
    const { entityId } = read.payload;
    const signal = AbortSignal.timeout(CRM_LIMIT_MS);
    const late = new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('a CRM did not answer in time'));
    });
    const outlook = preview(deps, read.payload, signal).then(
      (previews) =>
        previews.slice(0, MOST_RECORDS).map(describePreview).join('; ') || 'no record is linked to the company',
      (error: unknown) => `what it would do could not be read: ${errorText(error)}`,
    );
    const result = `a test, so nothing was written; ${await Promise.race([outlook, late])}`;
    deps.log.info({ entity: entityId, result }, 'a webhook was sent as a test');
    const actor = { kind: 'sender', name: 'webhook' } as const;
    const entry = { actor, via: 'api', action: 'webhook.test', subject: entityId, result } as const;
    await deps.store.write((tx) => recordAudit(tx, entry, deps.now()));
    return undefined;
  };
}

/** Names of properties, without values. */
function describePreview({ provider, id, current }: Preview): string {
  const record = `${provider}:${id}`;
  if (current.kind !== 'compared') return `${record} would stay as it is (${current.kind})`;
  const written = propertiesWith(current, 'write');
  const unchanged = propertiesWith(current, 'keep');
  if (written === '' && unchanged === '') return `${record} would stay as it is`;
  const parts = [written && `would get ${written}`, unchanged && `would keep ${unchanged}`];
  return `${record} ${parts.filter((part) => part !== '').join(' and ')}`;
}

const propertiesWith = ({ planned }: Extract<CurrentRecord, { kind: 'compared' }>, action: 'write' | 'keep'): string =>
  planned
    .filter((each) => each.action === action)
    .map(({ property }) => property)
    .join(', ');

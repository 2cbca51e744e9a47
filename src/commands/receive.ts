/** `receive`: processes a saved payload as the webhook would. */
import { readFile } from 'node:fs/promises';
import { wireOf } from '../config/load.ts';
import { openCrm } from '../connector/crm/crm.ts';
import { type Remark, remarksOn } from '../connector/decide/remarks.ts';
import type { CurrentRecord } from '../connector/explain/current.ts';
import { readFacts } from '../connector/facts/facts.ts';
import { insertReceipts } from '../connector/intake/receipt.ts';
import { applyNow, type Preview, preview } from '../connector/replay.ts';
import { createMetrics } from '../http/metrics.ts';
import { openClient } from '../http/outbound/client.ts';
import { canonicalBody, dedupeKey } from '../protocol/dedupe.ts';
import { type Payload, readPayload, type WireOptions, withoutWithheld } from '../protocol/payload.ts';
import { errorText } from '../protocol/text/error-text.ts';
import { isJsonObject, readJson } from '../protocol/text/json.ts';
import { openStore } from '../store/engines/open.ts';
import { defineCommand, flag, needed, UsageError } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';

export const command = defineCommand({
  name: 'receive',
  examples: ['receive event.json --dry-run'],
  about: 'feed a saved payload through the real code',
  args: { file: needed('a webhook body, JSON') },
  options: { dryRun: flag('show what would be written, and write nothing') },
  run: async (context, { file }, { dryRun }) => {
    const config = await context.config(['connector.providers']);
    const { connector, store: url } = config;
    if (connector === undefined) throw new UsageError('the configuration has no connector section');
    const wire = wireOf(config);
    const { json, payload } = await readFileAs(file, wire);
    const { signal, env } = context;
    const client = openClient({ env });
    const store = await openStore(url, { migrate: 'new' });
    try {
      const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now };
      const crms = await Promise.all(connector.providers.map((each) => openCrm(deps, each)));
      const replay = { ...deps, ...wire, crms };
      if (dryRun) {
        const known = new Map((await readFacts(store.db, [payload.entityId])).map((fact) => [fact.field, fact]));
        return show(context, await preview(replay, payload, signal), remarksOn(payload, known, Date.now()));
      }
      const key = dedupeKey(undefined, json);
      const event = {
        key,
        entity: payload.entityId,
        timestamp: payload.timestamp,
        body: canonicalBody(json, wire),
      };
      const stored = await store.write((tx) => insertReceipts(tx, [event], Date.now()));
      const whole = await applyNow(replay, payload.entityId, signal);
      const what =
        stored.size === 0 ? 'This event arrived before: it has no second effect.' : 'The event is stored and applied.';
      const rest = whole ? '' : ' A running daemon is doing some of the work, or it is due later.';
      const where = `See it with: cvrsync explain ${payload.entityId}`;
      context.output.result(
        { entity: payload.entityId, duplicate: stored.size === 0, applied: whole },
        `${what}${rest}\n${where}`,
      );
      return 0;
    } finally {
      await client.close();
      await store.close();
    }
  },
});

async function readFileAs(file: string, wire: WireOptions): Promise<{ json: unknown; payload: Payload }> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${errorText(error)}`);
  });
  const read = readJson(bytes);
  if (!read.ok) throw new UsageError(`${file}: ${read.reason}`);
  const result = readPayload(read.value, wire);
  if (!result.ok || !isJsonObject(read.value))
    throw new UsageError(
      `${file} is not a payload: ${result.ok ? '' : result.errors.map((each) => `${each.path} ${each.message}`).join('; ')}`,
    );
  return { json: withoutWithheld(read.value, wire), payload: result.payload };
}

function show(context: CommandContext, previews: readonly Preview[], remarks: readonly Remark[]): 0 {
  const rows = previews.flatMap(({ provider, id, current }) =>
    rowsOf(current).map((row) => ({ record: `${provider}:${id}`, ...row })),
  );
  const notes = remarks.map(({ entry, kind, detail }) => ({
    record: '',
    ...NO_CHANGE,
    property: entry,
    rule: kind,
    detail,
  }));
  context.output.table([...rows, ...notes], 'Nothing would be written: no linked record differs.');
  return 0;
}

const NO_CHANGE = { property: '', action: 'skip', old: null, new: null } as const;

/** The properties of a record that differ, or one row without a property if cvrsync would not write to the record. */
function rowsOf(current: CurrentRecord) {
  if (current.kind !== 'compared')
    return [
      { ...NO_CHANGE, rule: current.kind, detail: 'reason' in current ? current.reason : UNTOUCHED[current.kind] },
    ];
  return current.planned
    .filter(({ rule }) => rule !== 'same')
    .map(({ property, action, rule, old, now, detail = '' }) => ({ property, action, rule, old, new: now, detail }));
}

const UNTOUCHED = {
  hold: 'the record is on hold in the CRM',
  gone: 'the CRM has no record with this id',
  moved: 'the record was merged into another one',
  unlinked: 'the link is not active',
} as const;

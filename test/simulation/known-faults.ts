/** The faults that `mutations.ts` puts back: each replaces one place of the code. */

export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly search: string;
  readonly replace: string;
  /** What must happen for it to show, besides changes of the register. */
  readonly needs?: string;
  /** What requests must meet, if it is not any trouble. */
  readonly troubles?: string;
  /** How many daemons and companies it needs, if not as many as a seed has. */
  readonly daemons?: number;
  readonly companies?: number;
}

const DECIDE = 'src/connector/decide/decide.ts';
const LANES = 'src/runtime/lanes/lanes.ts';

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'an edit is overwritten',
    file: DECIDE,
    search: "{ action: 'keep', rule: 'edited' }",
    replace: "{ action: 'write', rule: 'trusted' }",
    needs: 'edit',
  },
  {
    name: 'a value that the register had before counts as an edit',
    file: DECIDE,
    search: "  if (isOneOf(crm, known, same)) return { action: 'write', rule: 'register' };\n",
    replace: '',
    needs: 'edit,putBack',
  },
  {
    name: 'what the CRM made of a value counts as an edit',
    file: DECIDE,
    search: 'isOneOf(crm, [last, stored], same)',
    replace: 'isOneOf(crm, [last], same)',
  },
  {
    name: 'a hold holds nothing',
    file: DECIDE,
    search: "  if (override === 'hold') return { action: 'skip', rule: 'held' };\n",
    replace: '',
    needs: 'hold',
  },
  {
    name: 'a release releases nothing',
    file: DECIDE,
    search: "  if (override === 'release') return { action: 'write', rule: 'released' };\n",
    replace: '',
    needs: 'edit,accept',
  },
  {
    name: 'a blank property stays blank',
    file: DECIDE,
    search: "  if (isBlank(crm)) return { action: 'write', rule: 'blank' };",
    replace: "  if (isBlank(crm)) return { action: 'skip', rule: 'filled' };",
    needs: 'clear',
  },
  {
    name: 'the last event wins, not the newest register time',
    file: 'src/connector/facts/fact.ts',
    search: 'if (current !== undefined && isStale)',
    replace: 'if (current !== undefined && isStale && seq < 0)',
    needs: 'stray',
  },
  {
    name: 'a mark during a run is lost',
    file: LANES,
    search: 'marks === claim.marks ? undefined : (again_at ?? 0)',
    replace: 'undefined',
    needs: 'troubleCrm,hold,letGo',
  },
  {
    name: 'a lost lease settles all the same',
    file: LANES,
    search: 'claim !== undefined && claim.fence === fence',
    replace: 'claim !== undefined && fence !== undefined',
    needs: 'freeze',
    daemons: 3,
  },
  {
    name: 'a webhook is answered before it is on disk',
    file: 'src/connector/intake/intake.ts',
    search: '      await commits.add(event);',
    replace: '      void commits.add(event);',
    needs: 'die,kill',
    daemons: 3,
  },
  {
    name: 'a later delivery of a company overtakes an earlier one',
    file: 'src/service/delivery/due.ts',
    search: "older.state = 'due' and older.seq < head.seq)\n    order",
    replace: "older.state = 'due' and older.seq < 0)\n    order",
    needs: 'troubleReceiver',
  },
  {
    name: 'an error of a receiver counts as success',
    file: 'src/service/delivery/schedule.ts',
    search: 'if (status >= 200 && status < 300)',
    replace: 'if (status >= 200)',
    needs: 'troubleReceiver',
  },
  {
    name: 'a repeat has another id',
    file: 'src/service/delivery/post.ts',
    search: "`, 'base64url')}",
    replace: "` + performance.now(), 'base64url')}",
    needs: 'troubleReceiver',
  },
  {
    name: 'the place in the register is stored before the changes',
    file: 'src/service/register/watch/ingest-page.ts',
    search: '    await store.write(async (tx) => {\n      await begin(tx);',
    replace: '    await store.write((tx) => begin(tx));\n    await store.write(async (tx) => {',
    needs: 'outage',
    daemons: 1,
  },
  {
    name: 'snapshots are stored before the changes are published',
    file: 'src/service/register/watch/ingest-page.ts',
    search: '      await storeRows(tx, rows, now(), breathe);',
    replace:
      '    });\n    await store.write(async (tx) => {\n      await storeRows(tx, rows, now(), breathe);\n    });\n    await store.write(async (tx) => {',
    needs: 'die',
  },
  {
    name: 'an answer that lacks a shard counts as whole',
    file: 'src/service/register/source/whole-answer.ts',
    search: 'return successful === total ? undefined :',
    replace: 'return successful >= 0 ? undefined :',
    needs: 'partial',
    companies: 12,
  },
  {
    name: 'an answer that ended early counts as whole',
    file: 'src/service/register/source/whole-answer.ts',
    search: 'if (terminated_early === true)',
    replace: "if (terminated_early === 'never')",
    needs: 'partial',
    companies: 12,
  },
  {
    name: 'no write is pending while it is on its way',
    file: 'src/connector/sync/pending.ts',
    search: '    await beginWrites(tx, begun);',
    replace: '    if (begun.length < 0) await beginWrites(tx, begun);',
    needs: 'kill,undo',
  },
  {
    name: 'nobody looks for edits that a write replaced',
    file: 'src/connector/edits/due.ts',
    search: 'if (connection.edits === undefined) return;',
    replace: 'if (now > 0 || connection.edits === undefined) return;',
    needs: 'race',
  },
  {
    name: 'an edit that the answer to a write shows is forgotten',
    file: 'src/connector/sync/sync.ts',
    search: '  await rememberOverwritten(tx, provider, overwritten, now);\n',
    replace: '  if (overwritten.length < 0) await rememberOverwritten(tx, provider, overwritten, now);\n',
    needs: 'race',
  },
  {
    name: 'a write goes out however old its read is',
    file: 'src/connector/write/freshness.ts',
    search: 'FRESH_MS = 250;',
    replace: 'FRESH_MS = 250_000;',
    needs: 'race,troubleCrm',
  },
  {
    name: 'a call to the service that fails counts as made',
    file: 'src/connector/monitoring/monitoring.ts',
    search: "      return { kind: 'again', at: now + backoff(attempts + 1), error: result.message };",
    replace: "      return { kind: attempts < 0 ? 'done' : 'done' };",
    needs: 'troubleDaemon,link,add',
  },
  {
    name: 'a known earlier value does not mark the record',
    file: 'src/connector/facts/fact.ts',
    search: '  folded.changed || (!isMembers(assertion) && (folded.stale || (assertion.before ?? null) !== null));',
    replace: '  folded.changed || (assertion.field === undefined && !isMembers(assertion));',
    needs: 'stray,putBack,edit',
  },
  {
    name: 'the state of the register is taken from an older document',
    file: 'src/service/register/watch/find-steps.ts',
    search: '(head !== undefined && loadedAt < head.loaded_at)',
    replace: "(head !== undefined && loadedAt < '')",
    needs: 'disorder,withdraw,stale',
  },
  {
    name: 'a claimed lane can be claimed again',
    file: 'src/runtime/lanes/lane-state.ts',
    search: "eb.or([eb('fence', 'is', null), eb('lease_until', '<=', now)]);",
    replace: "eb.or([eb('fence', 'is', null), eb('lease_until', '>', 0), eb('lease_until', '<=', now)]);",
    needs: 'freeze,race',
  },
  {
    name: 'the store forgets what was written',
    file: 'src/connector/sync/sync.ts',
    search: '    await rememberWritten(\n      tx,',
    replace: '    if (now < 0) await rememberWritten(\n      tx,',
    needs: 'edit',
  },
  {
    name: 'an address is decided part by part',
    file: 'src/connector/decide/plan.ts',
    search: ': decideGroup(group)) decided',
    replace: ': group.map((part) => part.planned)) decided',
    needs: 'edit',
  },
  {
    name: 'a hold that comes while the CRM answers is written over',
    file: 'src/connector/sync/prepare.ts',
    search: 'asLoaded: asLoaded.has(id)',
    replace: 'asLoaded: asLoaded.size >= 0',
    needs: 'holdAmid',
  },
  {
    name: 'a release for once stays',
    file: 'src/connector/sync/sync.ts',
    search: '    await endUsedOverrides(',
    replace: '    if (now < 0) await endUsedOverrides(',
    needs: 'edit,accept,insist',
  },
  {
    name: 'a document that becomes findable late is passed by',
    file: 'src/service/register/source/feed.ts',
    search: 'OVERLAP_MS = 5 * 60_000;',
    replace: 'OVERLAP_MS = 0;',
  },
  {
    name: 'a locked row is given up',
    file: 'providers/salesforce/write/decide-update.ts',
    search: "  'UNABLE_TO_LOCK_ROW',\n  'SERVER_UNAVAILABLE',",
    replace: "  'SERVER_UNAVAILABLE',",
    needs: 'locks',
  },
  {
    name: 'an edit comes back without the rest of its address',
    file: 'src/connector/edits/check-edits.ts',
    search: '  if (first === undefined || last === undefined) return [];\n  return [{ id, field',
    replace: '  if (first === undefined || last === undefined || id !== undefined) return [];\n  return [{ id, field',
    needs: 'race',
  },
  {
    name: 'a write of one part of an address carries no others',
    file: 'src/connector/sync/prepare.ts',
    search: 'tellsEdits: connection.edits !== undefined',
    replace: 'tellsEdits: false',
    needs: 'race',
  },
  {
    name: 'a new link asks for no full state',
    file: 'src/connector/monitoring/monitoring.ts',
    search: 'upstream.add(item, link.send_update === 1,',
    replace: 'upstream.add(item, link.send_update === 2,',
  },
  {
    name: 'earlier values of the register are forgotten',
    file: 'src/connector/apply/apply.ts',
    search: '    await writeKnown(tx, known, deps.now());\n',
    replace: '',
    needs: 'race,edit,putBack',
  },
  {
    name: 'what the CRM made of a write without an answer counts as an edit',
    file: 'src/connector/sync/prepare.ts',
    search: 'await recogniseStored(crm.connection, first.found, signal);',
    replace: 'await recogniseStored(crm.connection, [], signal);',
    needs: 'troubleCrm',
  },
  {
    name: 'records of a call are told apart by their place',
    file: 'providers/hubspot/read/read.ts',
    search: 'byId.get(id) ?? records.find(',
    replace: 'records[asked.indexOf(id)] ?? records.find(',
  },
  {
    name: 'the edit that a late write replaced does not come back',
    file: 'src/connector/decide/late.ts',
    search: '{ ...late, old, overtook: isNewer,',
    replace: '{ ...late, old, overtook: false,',
    needs: 'race,edit,troubleCrm',
    troubles: 'late',
  },
  {
    name: 'an undo replaces what a person edited since',
    file: 'src/connector/undo/decide-undo.ts',
    search: "  if (holds(crm)) return { kind: 'restore', ...restored };",
    replace: "  if (holds(crm) || seq >= 0) return { kind: 'restore', ...restored };",
    needs: 'edit,undo',
  },
  {
    name: 'an undo goes back one write only',
    file: 'src/connector/undo/decide-undo.ts',
    search: 'isEdit(write) || !isReplaced) break;',
    replace: 'isEdit(write) || !isReplaced || at >= 0) break;',
    needs: 'undo',
  },
  {
    name: 'an undo holds nothing',
    file: 'src/connector/undo/undo.ts',
    search: 'displaced: await holdRestored(tx, name, ours, { at, until, by }) }',
    replace: 'displaced: at < 0 ? await holdRestored(tx, name, ours, { at, until, by }) : [] }',
    needs: 'undo',
  },
  {
    name: 'the first change of a page is no news',
    file: 'src/service/publish/publish.ts',
    search: 'stored.flatMap(({ change }) => newsOf(change, news)),',
    replace: 'stored.slice(1).flatMap(({ change }) => newsOf(change, news)),',
  },
  {
    name: 'calls are not spaced',
    file: 'src/runtime/limits/call-slots.ts',
    search: 'sql`case when rate_limit.next_at >',
    replace: 'sql`case when 1 = 1 then cast(excluded.next_at as double precision) when rate_limit.next_at >',
    daemons: 3,
    companies: 12,
  },
];

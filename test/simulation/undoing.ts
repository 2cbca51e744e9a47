/** A person undoes what cvrsync wrote into the records of a company, or within the last hours: previewed, confirmed, carried out. */
import { GROUPS } from '../../providers/fields.ts';
import { hubspotPreset } from '../../providers/hubspot/preset.ts';
import { respelled } from '../../providers/kit/emulator/emulator.ts';
import { salesforcePreset } from '../../providers/salesforce/preset.ts';
import { readResults, UNDO } from '../../src/connector/undo/undo-task.ts';
import type { Selection } from '../../src/connector/undo/writes.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { confirmRun, requestPreview } from '../../src/runtime/runs/runs.ts';
import type { Tx } from '../../src/store/store.ts';
import { plain } from '../chaos/fold.ts';
import { RESPELL, togetherWith } from '../chaos/records.ts';
import type { CrmName } from '../support/fixture.ts';
import { type Change, heldBefore } from './changes.ts';
import { type CrmRecord, keepAsItIs } from './people.ts';
import { isUnderWay } from './quiet.ts';
import type { Due, Undoing } from './under-way.ts';
import type { World } from './world.ts';

const BY = { actor: { kind: 'user', name: 'Ida' }, via: 'page' } as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOOK_MS = 5_000;
/** A person who finds the preview undone for so long gives up. */
const LOOKS = 200;
/** What cvrsync wrote so near to the time that is named may or may not count: a store tells other times than a CRM. */
const NEAR_MS = 6 * MINUTE_MS;

const PRESETS = { hubspot: hubspotPreset, salesforce: salesforcePreset } as const;
/** An amount and its currency are held together. */
const TOGETHER: Readonly<Record<CrmName, readonly string[]>> = {
  hubspot: ['cvr_capital', 'cvr_capital_currency'],
  salesforce: ['CVR_Capital__c', 'CVR_Capital_Currency__c'],
};

/** Requests an undo, which is confirmed at the next moment in which nothing is under way. */
export async function undo(world: World, random: Random): Promise<void> {
  const record = [...world.linked][random.int(0, Math.max(0, world.linked.size - 1))];
  const since = world.time.now() - random.int(1, 3) * HOUR_MS;
  const selection: Selection = random.chance(0.5) || record === undefined ? { since } : { entity: record.entity };
  if (world.undoing !== undefined || world.leaving !== undefined || since < world.undoneAt) return;
  await request(world, selection);
}

async function request(world: World, selection: Selection): Promise<void> {
  const id = await world.write((tx) =>
    requestPreview(tx, UNDO, { input: { ...selection, hold: 'forever' }, ...BY }, world.time.now()),
  );
  world.undoing = id === undefined ? undefined : { id, selection, askedAt: world.time.now(), due: undefined };
  if (id !== undefined) look(world, id, LOOKS);
}

/** Looks now and then how far the undo is. */
function look(world: World, id: number, left: number): void {
  world.time.after(LOOK_MS, 'look at an undo', () => void goOn(world, id, left));
}

async function goOn(world: World, id: number, left: number): Promise<void> {
  const { undoing, store, machines } = world;
  if (undoing?.id !== id) return;
  const row = await store.db.selectFrom('run').select(['state', 'stage']).where('id', '=', id).executeTakeFirst();
  if (row?.state === 'done' && row.stage === 'run') return end(world, undoing, 'done');
  // What a part of it put back stays, and what no answer came for is held all the same.
  if (row?.state === 'failed' && world.network.inFlight === 0) return end(world, { ...undoing, due: [] }, 'failed');
  if (undoing.due === undefined && left <= 0) {
    world.undoing = undefined;
    return;
  }
  if (row?.state === 'done' && row.stage === 'preview' && !machines.disk.isFull) await confirm(world, undoing);
  look(world, id, left - 1);
}

async function confirm(world: World, undoing: Undoing): Promise<void> {
  const { id, selection } = undoing;
  await world.store.write(async (tx) => {
    if (world.network.inFlight > 0 || (await isBusy(tx, world.time.now())) || world.undoing !== undoing) return;
    const due = chosen(world, selection).flatMap((record) => dueIn(world, record, selection));
    const isOld = ({ record, property }: Due): boolean =>
      groupOf(record, property).every((each) => !isNewer(world, record, each, undoing.askedAt));
    world.undoing = { ...undoing, due: due.filter(isOld) };
    await confirmRun(tx, UNDO, { id, ...BY }, world.time.now());
    world.note(`  an undo of ${JSON.stringify(selection)} begins: ${due.length} values`);
  });
}

const isNewer = ({ changesOf }: World, { id }: CrmRecord, property: string, time: number): boolean =>
  (changesOf(id).get(property) ?? []).some(({ at }) => at >= time);

/** What an undo puts back together or not at all: the parts of an address, an amount and its currency. */
function groupOf({ crm }: CrmRecord, property: string): readonly string[] {
  const parts = PRESETS[crm].filter(({ field }) => GROUPS.address.some((part) => part === field));
  const addresses = [...Map.groupBy(parts, ({ address }) => address).values()];
  const groups = [TOGETHER[crm], ...addresses.map((rows) => rows.map((row) => row.property))];
  return groups.find((group) => group.includes(property)) ?? [property];
}

async function isBusy(tx: Tx, now: number): Promise<boolean> {
  const pending = await tx.selectFrom('pending_write').select('key').execute();
  return pending.length > 0 || isUnderWay(tx, UNDER_WAY, now);
}

const CRMS = ['hubspot', 'salesforce'] as const;
const UNDER_WAY = ['apply', 'deliver', ...CRMS.flatMap((crm) => [`sync:${crm}`, `edits:${crm}`, `heal:${crm}`])];

const chosen = ({ records }: World, { entity }: Selection): readonly CrmRecord[] =>
  records.filter((record) => entity === undefined || record.entity === entity);

function dueIn(world: World, record: CrmRecord, { since = 0 }: Selection): readonly Due[] {
  return rowsOf(record).flatMap(({ property }) => {
    const changes = world.changesOf(record.id).get(property) ?? [];
    const found = [since - NEAR_MS, since + NEAR_MS].map((time) => heldBefore(changes, time));
    const target = found[0]?.before;
    const held = world[record.crm].get(record.id)?.[property] ?? null;
    const isClear = target !== undefined && found[1]?.before === target;
    if (!isClear || isSame(record, property, held, target) || record.theirs.has(property)) return [];
    return [{ record, property, target, changes: changes.length }];
  });
}

/** The mapped properties that an undo puts back. */
const rowsOf = ({ crm }: CrmRecord) => PRESETS[crm].filter(({ field }) => field !== 'registerChangedAt');

function isSame({ crm }: CrmRecord, property: string, held: Change['after'], target: Change['after']): boolean {
  const field = PRESETS[crm].find((row) => row.property === property)?.field ?? 'name';
  const made = respelled({ [property]: target }, RESPELL[crm])[property];
  return [plain(field, target), plain(field, made)].includes(plain(field, held));
}

/** An undo is over: what is held by it must be what stood there before, and so must all that was to be put back. */
async function end(world: World, undoing: Undoing, state: 'done' | 'failed'): Promise<void> {
  const { id, due = [], selection } = undoing;
  const { db } = world.store;
  const holds = await db.selectFrom('override').selectAll().where('kind', '=', 'hold').execute();
  const results = await readResults(db, id, 100_000);
  world.undoing = undefined;
  world.undoneAt = world.time.now();
  const isHeld = new Set(holds.map(({ record_id, property }) => `${record_id} ${property}`));
  for (const each of due.filter((one) => isStillDue(world, undoing, one))) {
    const { record, property, target } = each;
    const held = world[record.crm].get(record.id)?.[property] ?? null;
    const result = results.find((one) => one.record === record.id && [property, '*'].includes(one.property));
    const isBack = isHeld.has(`${record.id} ${property}`) && isSame(record, property, held, target);
    // It was on hold before: the hold stays a person's.
    if (isBack && record.held.has(property)) keepAsItIs(world, record, [property]);
    if (!isBack && !EXCUSES.has(result?.kind ?? ''))
      world.wrong.push(
        `${record.crm} ${record.id}: an undo left ${property} as "${held}", not "${target}": ${result?.kind} ${result?.reason ?? ''}`,
      );
  }
  takeBack(world, holds);
  for (const hold of holds.filter(({ origin }) => origin === 'undo')) {
    const wrong = holdAfter(world, hold, selection);
    if (wrong !== undefined && state === 'done') world.wrong.push(wrong);
  }
}

/** Whether nobody wrote into a property meanwhile, and no change of the register came, nor into what belongs to it. */
const isStillDue = (world: World, { due = [], askedAt }: Undoing, { record, property }: Due): boolean =>
  groupOf(record, property).every((each) => {
    const one = due.find((other) => other.record === record && other.property === each);
    return one === undefined ? !isNewer(world, record, each, askedAt) : isUntouched(world, one);
  });

function isUntouched(world: World, { record, property, target, changes }: Due): boolean {
  if (!world.records.includes(record) || isTheirs(record, property)) return false;
  const since = (world.changesOf(record.id).get(property) ?? []).slice(changes);
  return since.every(({ isOurs, after }) => isOurs && isSame(record, property, after, target));
}

/** What the CRM did not let an undo do. */
const EXCUSES: ReadonlySet<string> = new Set(['refused', 'busy', 'gone', 'moved', 'missing', 'unreadable']);

const isTheirs = ({ crm, theirs }: CrmRecord, property: string): boolean =>
  [...theirs].some((each) => togetherWith(crm, each).includes(property));

interface Hold {
  readonly provider: string;
  readonly record_id: string;
  readonly property: string;
}

/** Words that a person had given up, and an undo put back, are a person's again: also once their hold ends. */
function takeBack(world: World, holds: readonly Hold[]): void {
  for (const { provider, record_id: id, property } of holds) {
    const record = world.records.find((each) => each.crm === provider && each.id === id);
    const words = record?.given.get(property);
    if (record === undefined || words === undefined) continue;
    if (!isSame(record, property, world[record.crm].get(id)?.[property] ?? null, words)) continue;
    record.given.delete(property);
    record.theirs.add(property);
    keepAsItIs(world, record, togetherWith(record.crm, property));
  }
}

/** What an undo restored stays; returns what is wrong with it. */
function holdAfter(
  world: World,
  { provider, record_id: id, property }: Hold,
  { since = 0 }: Selection,
): string | undefined {
  const record = world.records.find((each) => each.crm === provider && each.id === id);
  if (record === undefined || record.held.has(property)) return undefined;
  record.held.add(property);
  if (isTheirs(record, property)) return undefined;
  const [capital, currency] = TOGETHER[record.crm];
  keepAsItIs(world, record, property === capital && currency !== undefined ? [property, currency] : [property]);
  const changes = world.changesOf(id).get(property) ?? [];
  const held = world[record.crm].get(id)?.[property] ?? null;
  const before = [since - NEAR_MS, since + NEAR_MS].map((time) => heldBefore(changes, time)?.before);
  if (before.some((value) => value === undefined || isSame(record, property, held, value))) return undefined;
  return `${provider} ${id}: an undo holds "${held}" in ${property}, and "${before.join('" or "')}" stood there`;
}

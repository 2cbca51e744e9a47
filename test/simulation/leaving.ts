/** An administrator leaves a CRM, which is previewed, confirmed and carried out, and returns to it. */
import { LEAVE, type LeaveRequest } from '../../src/connector/leave/leave-task.ts';
import { restartEndedLinks } from '../../src/connector/links/end-all.ts';
import { endLeft } from '../../src/connector/links/left.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { cancelRun, confirmRun, requestPreview } from '../../src/runtime/runs/runs.ts';
import type { Tx } from '../../src/store/store.ts';
import type { CrmName } from '../support/fixture.ts';
import type { Leaving } from './under-way.ts';
import type { World } from './world.ts';

const BY = { actor: { kind: 'user', name: 'Ida' }, via: 'command' } as const;

/** Whether an administrator left the CRM of a record: then no command may link it or answer for it. */
export const isLeft = ({ leaving }: World, { crm }: { readonly crm: CrmName }): boolean =>
  leaving?.stage === 'left' && leaving.crm === crm;

/** Takes the next step of leaving a CRM, or of returning to it. */
export async function leaveOrReturn(world: World, random: Random): Promise<void> {
  const { leaving, time } = world;
  if (leaving === undefined) {
    const crm = random.pick(['hubspot', 'salesforce'] as const);
    const input: LeaveRequest = { provider: crm, undo: false, removeProperties: false };
    const id = await world.write((tx) => requestPreview(tx, LEAVE, { input, ...BY }, time.now()));
    if (id !== undefined) world.leaving = { crm, id, stage: 'preview' };
    return;
  }
  if ((await stateOf(world, leaving)) !== 'done') return;
  if (leaving.stage === 'left') return comeBack(world, leaving);
  const begun = await world.write((tx) => confirmRun(tx, LEAVE, { id: leaving.id, ...BY }, time.now()));
  if (begun !== undefined) world.leaving = { ...leaving, stage: 'left' };
}

/** Returns to a CRM that is left or about to be; true once that is so. */
export async function endLeaving(world: World): Promise<boolean> {
  const { leaving, time } = world;
  if (leaving === undefined) return true;
  const isDone = (await stateOf(world, leaving)) === 'done';
  if (leaving.stage === 'left') {
    if (isDone) await comeBack(world, leaving);
    return isDone;
  }
  await world.write((tx) => cancelRun(tx, LEAVE, { id: leaving.id, ...BY }, time.now()));
  world.leaving = undefined;
  return true;
}

async function stateOf({ store, time }: World, { id }: Leaving): Promise<string | undefined> {
  const row = await time.until(store.db.selectFrom('run').select('state').where('id', '=', id).executeTakeFirst());
  return row?.state;
}

async function comeBack(world: World, { crm }: Leaving): Promise<void> {
  const now = world.time.now();
  const returned = await world.write(async (tx: Tx) => {
    await endLeft(tx, crm);
    for (let after: string | undefined = ''; after !== undefined; )
      after = (await restartEndedLinks(tx, crm, after, now)).at(-1)?.record_id;
    return true;
  });
  if (returned === true) world.leaving = undefined;
}

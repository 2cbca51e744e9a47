/** What an erasure does in the company index, whose entries name others by a number in their body. */
import { deleteEntries, entriesBefore, forgetSuccessor } from '../../match/index/write.ts';
import type { Db, Store } from '../../store/store.ts';
import type { EntityRow } from '../export/pages.ts';
import type { ErasurePlan } from './find-rows.ts';

/** The entries of others that name the erased company as their successor. */
export async function readTakenOver(db: Db, plan: ErasurePlan): Promise<readonly EntityRow[]> {
  const company = companyOf(plan);
  if (company === undefined) return [];
  const own = new Set(numbersOf(plan));
  const taken = (await entriesBefore(db, company)).filter((number) => !own.has(number)).map(Number);
  if (taken.length === 0) return [];
  return db.selectFrom('match_entry').selectAll().where('number', 'in', taken).execute();
}

/** Deletes the entries of the erased, with their keys, and leaves those that it took over without a successor. */
export async function eraseEntries(
  store: Store,
  plan: ErasurePlan,
): Promise<{ readonly deleted: number; readonly anonymised: number }> {
  const deleted = await store.write((tx) => deleteEntries(tx, numbersOf(plan)));
  const company = companyOf(plan);
  return { deleted, anonymised: company === undefined ? 0 : await forgetSuccessor(store, company) };
}

const COMPANY = 'CVR-1-';

const numbersOf = ({ entities }: ErasurePlan): readonly string[] =>
  entities.filter((id) => !id.startsWith('CVR-3-')).map((id) => id.slice(COMPANY.length));

const companyOf = ({ entities: [entity = ''] }: ErasurePlan): string | undefined =>
  entity.startsWith(COMPANY) ? entity.slice(COMPANY.length) : undefined;

/** A migration of a version after the baseline, as a later release might have it. */
import { sql } from 'kysely';
import { dialect, type Migration } from '../../src/store/migrations/dialect.ts';

/** Gives each link a remark, found by the index that it adds: of the rows it holds, the connection. */
export const addRemarks: Migration = async (tx, engine) => {
  const { text, index } = dialect(tx, engine);
  await tx.schema.alterTable('link').addColumn('remark', text).execute();
  await sql`update link set remark = provider`.execute(tx);
  await index('link_remark', 'link', ['remark', 'record_id'], 'remark is not null').execute();
};

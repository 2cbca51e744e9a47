/** A migration of a version after the baseline, as a later release might have it. */
import { sql } from 'kysely';
import { dialect, type Migration } from '../../src/store/migrations/dialect.ts';

/** Gives each link an owner, found by the index that it adds: of the rows it holds, the connection. */
export const addOwners: Migration = async (tx, engine) => {
  const { text, index } = dialect(tx, engine);
  await tx.schema.alterTable('link').addColumn('owner', text).execute();
  await sql`update link set owner = provider`.execute(tx);
  await index('link_owner', 'link', ['owner', 'record_id'], 'owner is not null').execute();
};

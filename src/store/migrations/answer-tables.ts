/** What people answered in review, and what each answer replaced: an answer can be taken back. */
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

export async function addReviewAnswers(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, table } = dialect(tx, engine);
  await table('review_answer')
    .addColumn('subject', text, (column) => column.primaryKey().notNull())
    .addColumn('verb', text, (column) => column.notNull())
    .addColumn('at', integer, (column) => column.notNull())
    .addColumn('replaced', text, (column) => column.notNull())
    .execute();
  await tx.schema.createIndex('review_answer_at').on('review_answer').columns(['at', 'subject']).execute();
}

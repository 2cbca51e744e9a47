/** One answer to all that a filter finds: it is previewed as a run. */
import { KINDS_FOR_ALL } from '../../connector/review/review-kinds.ts';
import { REVIEW } from '../../connector/review/review-task.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { listRuns } from '../../runtime/runs/runs.ts';
import type { Db } from '../../store/store.ts';
import type { ReviewFilter } from '../addresses/review.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { recentRuns } from '../routes/run-list.ts';
import { type AnswerName, answerName, verbOf } from './answer-names.ts';
import { answerButtons } from './answers.ts';

const RECENT = 5;

export const mayAnswerAll = (name: AnswerName, kind: ReviewFilter['kind']): boolean =>
  kind !== undefined &&
  answerName(verbOf(name), kind) === name &&
  KINDS_FOR_ALL[verbOf(name)].some((each) => each === kind);

/** A button for each answer that may be given to all that the filter finds, and that something on the page takes. */
export function answerAllForm(
  { reader, visitor, formToken }: Visit,
  filter: ReviewFilter,
  taken: readonly AnswerName[],
): Markup {
  const names = taken.filter((name) => mayAnswerAll(name, filter.kind));
  if (!includesRole(visitor.role, 'operator') || names.length === 0) return null;
  return html`<form method="post" action="/runs/answers">
    ${hidden({ [FORM_TOKEN]: formToken, ...filter })}
    <p class="quiet">${reader.text('answers.all')} ${reader.text('answers.help')}</p>
    ${answerButtons(reader, names, ' …')}
  </form>`;
}

/** The latest answers to all that a filter found. */
export async function recentAnswers(db: Db, visit: Visit): Promise<Markup> {
  const { reader } = visit;
  const runs = await listRuns(db, { task: REVIEW.queue }, RECENT);
  const name = ({ id }: { readonly id: number }): string => reader.text('answers.title', { id: String(id) });
  return recentRuns(visit, { title: reader.text('answers.recent'), task: REVIEW.queue }, runs, name);
}

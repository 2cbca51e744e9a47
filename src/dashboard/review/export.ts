/** The list of what needs a person as a CSV file. */
import { readDifferences } from '../../connector/history/differences.ts';
import { differenceEntry, readAttention } from '../../connector/review/attention.ts';
import { type Attention, readAttentionId } from '../../connector/review/attention-kinds.ts';
import type { Server } from '../../http/server/server.ts';
import type { CsvRow } from '../../runtime/files/csv-text.ts';
import { type ReviewFilter, readReviewFilter } from '../addresses/review.ts';
import { fieldOfProperty, mayNamePersons } from '../companies/shown-value.ts';
import { sendCsv } from '../page/csv.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ReviewDeps } from '../routes/routes.ts';

const PAGE = 500;

/** Adds the file. */
export function addReviewExport(app: Server, deps: ReviewDeps): void {
  addPage(app, deps, {
    path: '/review.csv',
    show: async (visit) => sendCsv('review.csv', csvPages(deps, visit, readReviewFilter(visit.query))),
  });
}

async function* csvPages(deps: ReviewDeps, visit: Visit, filter: ReviewFilter): AsyncGenerator<readonly CsvRow[]> {
  yield [['id', 'kind', 'since', 'about', 'reason', 'answers', 'answer', 'sight']];
  for await (const page of pagesOf(deps, visit, filter)) yield page.map((each) => rowOf(deps, visit, each));
}

async function* pagesOf(
  { store: { db } }: ReviewDeps,
  { now }: Visit,
  { kind, provider, property }: ReviewFilter,
): AsyncGenerator<readonly Attention[]> {
  if (kind !== 'difference') {
    yield await readAttention(db, now, { kinds: kind && [kind] });
    return;
  }
  let page: Awaited<ReturnType<typeof readDifferences>> = [];
  do {
    page = await readDifferences(db, now, { provider, property, after: page.at(-1) }, PAGE);
    yield page.map(differenceEntry);
  } while (page.length === PAGE);
}

function rowOf({ crms }: ReviewDeps, { visitor }: Visit, each: Attention): CsvRow {
  const { id, kind, since, about, reason, verbs, sight = '' } = each;
  const [provider = '', , property = ''] = readAttentionId(id)?.parts ?? [];
  const isHidden =
    (kind === 'difference' || kind === 'value') &&
    !visitor.seesPersons &&
    mayNamePersons(fieldOfProperty(crms, provider, property));
  const shown = isHidden ? ['', ''] : [about, reason];
  return [id, kind, since === null ? '' : new Date(since).toISOString(), ...shown, verbs.join(' '), '', sight];
}

/** Review as a CSV file. */
import { readDifferences } from '../../connector/history/differences.ts';
import { type ReviewEntry, readReviewId } from '../../connector/review/review-kinds.ts';
import { differenceEntry, readReview } from '../../connector/review/review-list.ts';
import type { Server } from '../../http/server/server.ts';
import type { CsvRow } from '../../runtime/files/csv-text.ts';
import { type InboxTexts, readInboxFilter } from '../addresses/inbox.ts';
import { fieldOfProperty, mayNamePersons } from '../companies/values/shown-value.ts';
import { sendCsv } from '../page/csv.ts';
import type { Visit } from '../page/visit.ts';
import { addPage, type ReviewDeps } from '../routes/routes.ts';

const PAGE = 500;

export function addReviewExport(app: Server, deps: ReviewDeps): void {
  addPage(app, deps, {
    path: '/inbox.csv',
    show: async (visit) => sendCsv('review.csv', csvPages(deps, visit, readInboxFilter(visit.query))),
  });
}

async function* csvPages(deps: ReviewDeps, visit: Visit, filter: InboxTexts): AsyncGenerator<readonly CsvRow[]> {
  yield [['id', 'kind', 'since', 'about', 'reason', 'answers', 'answer', 'revision']];
  for await (const page of pagesOf(deps, visit, filter)) yield page.map((each) => rowOf(deps, visit, each));
}

async function* pagesOf(
  { store: { db } }: ReviewDeps,
  { now }: Visit,
  { kind, provider, property }: InboxTexts,
): AsyncGenerator<readonly ReviewEntry[]> {
  if (kind !== 'difference') {
    yield await readReview(db, now, { kinds: kind && [kind], provider });
    return;
  }
  let page: Awaited<ReturnType<typeof readDifferences>> = [];
  do {
    page = await readDifferences(db, now, { provider, property, after: page.at(-1) }, PAGE);
    yield page.map(differenceEntry);
  } while (page.length === PAGE);
}

function rowOf({ crms }: ReviewDeps, { visitor }: Visit, each: ReviewEntry): CsvRow {
  const { id, kind, since, about, reason, verbs, revision = '' } = each;
  const [provider = '', , property = ''] = readReviewId(id)?.parts ?? [];
  const isHidden =
    (kind === 'difference' || kind === 'value') &&
    !visitor.seesPersons &&
    mayNamePersons(fieldOfProperty(crms, provider, property));
  const shown = isHidden ? ['', ''] : [about, reason];
  return [id, kind, since === null ? '' : new Date(since).toISOString(), ...shown, verbs.join(' '), '', revision];
}

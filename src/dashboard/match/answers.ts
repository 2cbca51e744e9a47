/** A person's answer to one record without a number. */
import { matchAnew, readChangedText } from '../../connector/match/reread.ts';
import { readUndecided, type UndecidedMatch } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { acceptMatched } from '../../operations/links.ts';
import { attempt, perform, Refused } from '../../operations/operation.ts';
import { rejectMatched } from '../../operations/review.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { behind } from '../addresses/match.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { actionAddress } from '../companies/record-action.ts';
import { inTime, readInTime, unlinkable } from '../companies/record-reading.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import type { Visit } from '../page/visit.ts';
import { addAction } from '../routes/routes.ts';
import { matchRevision, recordPage } from './record-page.ts';

/** Adds the action: the next record is shown after it. */
export function addMatchAnswers(app: Server, deps: CompanyDeps): void {
  addAction(app, deps, {
    path: '/match/answers',
    async run(visit, fields) {
      const { reader } = visit;
      const place = { provider: fieldValue(fields, 'provider'), recordId: fieldValue(fields, 'record') };
      const found = await readUndecided(deps.store.db, place);
      if (found === undefined || (await matchRevision(deps.store.db, found)) !== fieldValue(fields, 'revision'))
        return decided(visit, place);
      const chosen = chosenCompany(found, fields);
      if (chosen === 'none') return rejectAll(deps, visit, found);
      if (chosen === undefined) {
        const number = fieldValue(fields, 'other') || fieldValue(fields, 'company');
        return refused(visit, place, html`<p class="notice bad">${reader.text('match.noNumber', { number })}</p>`, 422);
      }
      const entity = companyEntityId(chosen);
      return found.candidates.some(({ company }) => company === chosen)
        ? accept(deps, visit, found, entity)
        : linkAddress(found, entity);
    },
  });
}

/** One of the candidates, or the number that the person typed; undefined if it is neither. */
function chosenCompany({ candidates }: UndecidedMatch, fields: Fields): string | undefined {
  const company = fieldValue(fields, 'company');
  if (company === 'none') return company;
  if (company !== 'other') return candidates.find((each) => each.company === company)?.company;
  const typed = readCvrNumber(fieldValue(fields, 'other'));
  return typed.kind === 'number' && typed.valid ? typed.number : undefined;
}

/** Nobody has seen a typed number beside the record: the page of the link shows first what it would do. */
const linkAddress = ({ provider, recordId }: UndecidedMatch, entity: string): string =>
  actionAddress(entity, 'link', { provider, record: recordId, sendUpdate: 'yes', match: 'yes' });

/** Refused if the match is another one by the time of the change. */
async function rejectAll(deps: CompanyDeps, visit: Visit, found: UndecidedMatch): Promise<string | PageBody> {
  const { visitor, now } = visit;
  const input = { provider: found.provider, record: found.recordId };
  const by = { actor: visitor.actor, via: 'page' } as const;
  const rejected = await attempt(() => perform(rejectMatched, input, { ...deps, now: () => now }, by));
  return rejected instanceof Refused ? decided(visit, found) : behind(found);
}

/** The record is read first: it may have got a number, or another place, since it was matched. */
async function accept(
  deps: CompanyDeps,
  visit: Visit,
  found: UndecidedMatch,
  entity: string,
): Promise<string | PageBody> {
  const { reader, visitor, now } = visit;
  const crm = deps.crms.find(({ name }) => name === found.provider);
  if (crm === undefined) return refused(visit, found, null, 409);
  const candidate = await readInTime(crm, { recordId: found.recordId, entity });
  if (candidate.kind !== 'found') return refused(visit, found, unlinkable(reader, candidate), 409);
  const other = candidate.other;
  if (other !== undefined)
    return refused(visit, found, html`<p class="notice bad">${reader.text('match.numbered', { other })}</p>`, 409);
  const changed = await inTime((signal) => readChangedText(crm, found, signal));
  if (changed !== undefined) {
    if ('kind' in changed) return refused(visit, found, unlinkable(reader, changed), 409);
    await matchAnew(deps.store, found, changed);
    return shownAnew(deps, visit, found);
  }
  const input = { provider: found.provider, record: found.recordId, entityId: entity };
  const by = { actor: visitor.actor, via: 'page' } as const;
  try {
    await perform(acceptMatched, input, { ...deps, now: () => now }, by);
    return behind(found);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const text = reader.text('match.taken', { other: error.about ?? '' });
    return refused(visit, found, html`<p class="notice bad">${text}</p>`, 409);
  }
}

/** Nothing was done: the record as it is now, and what it means by that. */
async function shownAnew(deps: CompanyDeps, visit: Visit, found: UndecidedMatch): Promise<PageBody> {
  const { reader } = visit;
  const fresh = await readUndecided(deps.store.db, found);
  const why = html`<p class="notice warn" role="alert">${reader.text('match.changed')}</p>`;
  if (fresh === undefined) return refused(visit, found, html`${why}<p>${reader.text('match.noneNow')}</p>`, 409);
  return {
    status: 409,
    title: reader.text('nav.match'),
    body: html`${why} ${await recordPage(deps, visit, fresh)}`,
  };
}

const decided = (visit: Visit, place: Parameters<typeof behind>[0]): PageBody =>
  refused(visit, place, html`<p class="notice warn">${visit.reader.text('match.decided')}</p>`, 409);

/** Nothing was done, and why; the way on. */
const refused = ({ reader }: Visit, place: Parameters<typeof behind>[0], why: Markup, status: 409 | 422): PageBody => ({
  status,
  title: reader.text('nav.match'),
  body: html`${why}
    <p class="actions">
      <a href=${behind(place)} autofocus>${reader.text('match.next')}</a>
      <a href="/match">${reader.text('match.beginning')}</a>
    </p>`,
});

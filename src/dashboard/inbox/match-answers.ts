/** Answers to a record without a number. */
import { matchAnew, readChangedText } from '../../connector/match/reread.ts';
import { type MatchPlace, readUndecided, type UndecidedMatch } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { acceptMatched } from '../../operations/connector/links.ts';
import { rejectMatched } from '../../operations/connector/review.ts';
import { attempt, perform, Refused } from '../../operations/definition/operation.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { addressAfter, type GoingOn, listAddress, matchId } from '../addresses/inbox.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { actionAddress } from '../companies/record-action.ts';
import { inTime, readInTime, unlinkable } from '../companies/record-reading.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import type { Visit } from '../page/visit.ts';
import { addAction } from '../routes/routes.ts';
import { matchRecord, matchRevision } from './match-record.ts';

/** The record of an answer, and the page after it. */
interface Asked {
  readonly visit: Visit;
  readonly place: MatchPlace;
  readonly on: GoingOn;
}

/** Adds the action. It leads to the next entry. */
export function addMatchAnswers(app: Server, deps: CompanyDeps): void {
  addAction(app, deps, {
    path: '/inbox/match',
    async run(visit, fields) {
      const { reader } = visit;
      const place = { provider: fieldValue(fields, 'provider'), recordId: fieldValue(fields, 'record') };
      const on = { back: listAddress(fieldValue(fields, 'back')), next: fieldValue(fields, 'next') || undefined };
      const asked = { visit, place, on };
      const found = await readUndecided(deps.store.db, place);
      if (found === undefined || (await matchRevision(deps.store.db, found)) !== fieldValue(fields, 'revision'))
        return decided(asked);
      const chosen = chosenCompany(found, fields);
      if (chosen === 'none') return rejectAll(deps, asked);
      if (chosen === undefined) {
        const number = fieldValue(fields, 'other') || fieldValue(fields, 'company');
        return refused(asked, html`<p class="notice bad">${reader.text('match.noNumber', { number })}</p>`, 422);
      }
      const entity = companyEntityId(chosen);
      return found.candidates.some(({ company }) => company === chosen)
        ? accept(deps, asked, found, entity)
        : linkAddress(found, entity);
    },
  });
}

const goOn = ({ place, on }: Asked): string => addressAfter(on.back, { at: on.next, done: matchId(place) });

/** One of the candidates, or the number that the person typed; undefined if neither. */
function chosenCompany({ candidates }: UndecidedMatch, fields: Fields): string | undefined {
  const company = fieldValue(fields, 'company');
  if (company === 'none') return company;
  if (company !== 'other') return candidates.find((each) => each.company === company)?.company;
  const typed = readCvrNumber(fieldValue(fields, 'other'));
  return typed.kind === 'number' && typed.valid ? typed.number : undefined;
}

/** The page of the link, which first shows what a typed number would do. */
const linkAddress = ({ provider, recordId }: UndecidedMatch, entity: string): string =>
  actionAddress(entity, 'link', { provider, record: recordId, sendUpdate: 'yes', match: 'yes' });

/** Refused if the match has changed meanwhile. */
async function rejectAll(deps: CompanyDeps, asked: Asked): Promise<string | PageBody> {
  const { visitor, now } = asked.visit;
  const input = { provider: asked.place.provider, record: asked.place.recordId };
  const by = { actor: visitor.actor, via: 'page' } as const;
  const rejected = await attempt(() => perform(rejectMatched, input, { ...deps, now: () => now }, by));
  return rejected instanceof Refused ? decided(asked) : goOn(asked);
}

/** Reads the record first: it may have got a number or another address since it was matched. */
async function accept(
  deps: CompanyDeps,
  asked: Asked,
  found: UndecidedMatch,
  entity: string,
): Promise<string | PageBody> {
  const { reader, visitor, now } = asked.visit;
  const crm = deps.crms.find(({ name }) => name === found.provider);
  if (crm === undefined) return refused(asked, null, 409);
  const candidate = await readInTime(crm, { recordId: found.recordId, entity });
  if (candidate.kind !== 'found') return refused(asked, unlinkable(reader, candidate), 409);
  const other = candidate.other;
  if (other !== undefined)
    return refused(asked, html`<p class="notice bad">${reader.text('match.numbered', { other })}</p>`, 409);
  const changed = await inTime((signal) => readChangedText(crm, found, signal));
  if (changed !== undefined) {
    if ('kind' in changed) return refused(asked, unlinkable(reader, changed), 409);
    await matchAnew(deps.store, found, changed);
    return shownAnew(deps, asked);
  }
  const input = { provider: found.provider, record: found.recordId, entityId: entity };
  const by = { actor: visitor.actor, via: 'page' } as const;
  const accepted = await attempt(() => perform(acceptMatched, input, { ...deps, now: () => now }, by));
  if (!(accepted instanceof Refused)) return goOn(asked);
  const text = reader.text('match.taken', { other: accepted.about ?? '' });
  return refused(asked, html`<p class="notice bad">${text}</p>`, 409);
}

/** Nothing was done: shows the current record and its candidates. */
async function shownAnew(deps: CompanyDeps, asked: Asked): Promise<PageBody> {
  const { visit, place, on } = asked;
  const { reader } = visit;
  const fresh = await readUndecided(deps.store.db, place);
  const why = html`<p class="notice warn" role="alert">${reader.text('match.changed')}</p>`;
  if (fresh === undefined) return refused(asked, html`${why}<p>${reader.text('match.noneNow')}</p>`, 409);
  return {
    status: 409,
    title: reader.text('match.title'),
    body: html`${why} ${await matchRecord(deps, visit, fresh, on)}`,
  };
}

const decided = (asked: Asked): PageBody =>
  refused(asked, html`<p class="notice warn">${asked.visit.reader.text('match.decided')}</p>`, 409);

/** Nothing was done: shows why, and the way on. */
const refused = ({ visit: { reader }, on }: Asked, why: Markup, status: 409 | 422): PageBody => ({
  status,
  title: reader.text('match.title'),
  body: html`${why}
    <p class="actions"><a href=${addressAfter(on.back, { at: on.next })} autofocus>${reader.text('review.back')}</a></p>`,
});

/** A person's answer to one record without a number. */
import { sightOf } from '../../connector/explain/sight.ts';
import { acceptMatch, rejectMatch } from '../../connector/match/answer.ts';
import { readUndecided, type UndecidedMatch } from '../../connector/match/undecided.ts';
import type { Server } from '../../http/server/server.ts';
import { readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { type Fields, fieldValue } from '../access/fields.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { readInTime, unlinkable } from '../companies/record-reading.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { addAction, type Visit } from '../routes.ts';
import { behind } from './place.ts';

/** What a person saw of a match, to tell whether it is still that when they answer. */
export const matchSight = ({ record, candidates }: UndecidedMatch): string =>
  sightOf(JSON.stringify(record), ...candidates.map(({ company, score }) => `${company} ${score}`));

/** Adds the action: the next record is shown after it. */
export function addMatchAnswers(app: Server, deps: CompanyDeps): void {
  addAction(app, deps, {
    path: '/match/answers',
    async run(visit, fields) {
      const { reader } = visit;
      const place = { provider: fieldValue(fields, 'provider'), recordId: fieldValue(fields, 'record') };
      const found = await readUndecided(deps.store.db, place);
      if (found === undefined || matchSight(found) !== fieldValue(fields, 'sight'))
        return refused(visit, place, html`<p class="notice warn">${reader.text('match.decided')}</p>`, 409);
      const chosen = chosenCompany(found, fields);
      if (chosen === 'none') return rejectAll(deps, visit, found);
      if (chosen === undefined) {
        const number = fieldValue(fields, 'other') || fieldValue(fields, 'company');
        return refused(visit, place, html`<p class="notice bad">${reader.text('match.noNumber', { number })}</p>`, 422);
      }
      return accept(deps, visit, found, companyEntityId(chosen));
    },
  });
}

/** One of the candidates, or the number that the person typed; undefined where it is neither. */
function chosenCompany({ candidates }: UndecidedMatch, fields: Fields): string | undefined {
  const company = fieldValue(fields, 'company');
  if (company === 'none') return company;
  if (company !== 'other') return candidates.find((each) => each.company === company)?.company;
  const typed = readCvrNumber(fieldValue(fields, 'other'));
  return typed.kind === 'number' && typed.valid ? typed.number : undefined;
}

async function rejectAll(deps: CompanyDeps, visit: Visit, found: UndecidedMatch): Promise<string> {
  const { visitor, now } = visit;
  const entities = found.candidates.map(({ company }) => companyEntityId(company));
  await deps.store.write(async (tx) => {
    await rejectMatch(tx, found, entities);
    const entry = { actor: visitor.actor, via: 'page', action: 'match.reject', subject: subjectOf(found) } as const;
    await recordAudit(tx, { ...entry, detail: { entities }, result: 'done' }, now);
  });
  return behind(found);
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
  const candidate = crm && (await readInTime(crm, { recordId: found.recordId, entity }));
  if (candidate === undefined || candidate.kind !== 'found')
    return refused(visit, found, candidate === undefined ? null : unlinkable(reader, candidate), 409);
  const other = candidate.other;
  if (other !== undefined)
    return refused(visit, found, html`<p class="notice bad">${reader.text('match.numbered', { other })}</p>`, 409);
  const linked = await deps.store.write(async (tx) => {
    const result = await acceptMatch(tx, found, entity, now);
    if (result.kind === 'taken') return result;
    const entry = { actor: visitor.actor, via: 'page', action: 'match.accept', subject: subjectOf(found) } as const;
    await recordAudit(tx, { ...entry, detail: { entity }, result: 'done' }, now);
    return result;
  });
  if (linked.kind !== 'taken') return behind(found);
  const text = reader.text('match.taken', { other: linked.entity });
  return refused(visit, found, html`<p class="notice bad">${text}</p>`, 409);
}

const subjectOf = ({ provider, recordId }: UndecidedMatch): string => `${provider}:${recordId}`;

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

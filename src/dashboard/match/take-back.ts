/** The answer to the record before: what it was, and the button that takes it back. */
import { companyNames } from '../../connector/explain/company-names.ts';
import { findLink } from '../../connector/links/links.ts';
import { takeBackMatch } from '../../connector/match/answer.ts';
import { readRejections } from '../../connector/match/results.ts';
import { type MatchPlace, readUndecided } from '../../connector/match/undecided.ts';
import { UNDO } from '../../connector/undo/undo-task.ts';
import { countWrites } from '../../connector/undo/writes.ts';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { requestPreview } from '../../runtime/runs/runs.ts';
import { companyAddress, runAddress } from '../addresses/addresses.ts';
import { at } from '../addresses/match.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden, messagePage } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addAction } from '../routes/routes.ts';

const PATH = '/match/back';
const BETWEEN = ' ';

/** What was answered for the record before; nothing if it was left for later. */
export async function answerNotice({ store: { db } }: CompanyDeps, visit: Visit, place: MatchPlace): Promise<Markup> {
  const { reader, visitor, formToken } = visit;
  const { provider, recordId } = place;
  const link = await findLink(db, place);
  const linked = link?.state === 'active' ? link.entity : undefined;
  const rejected = [...((await readRejections(db, provider, [recordId])).get(recordId) ?? [])];
  const entities = linked === undefined ? rejected : [linked];
  if (entities.length === 0 || (await readUndecided(db, place)) !== undefined) return null;
  const names = await companyNames(db, entities);
  const companies = entities.map(
    (entity, index) => html`${index > 0 && ', '}<a href=${companyAddress(entity)}>${names.get(entity) ?? entity}</a>`,
  );
  const carried = { [FORM_TOKEN]: formToken, provider, record: recordId, linked, rejected: rejected.join(BETWEEN) };
  return html`<form method="post" action=${PATH} class="notice ok">
    <p role="status">
      ${provider} <code>${recordId}</code> ${reader.text(linked === undefined ? 'match.rejected' : 'match.linked')} ${companies}
    </p>
    ${
      includesRole(visitor.role, 'operator') &&
      html`${hidden(carried)}
        <p class="actions">
          <button>${reader.text('match.takeBack')}</button>
          <span class="quiet">${reader.text(linked === undefined ? 'match.takeBackRejected' : 'match.takeBackLinked')}</span>
        </p>`
    }
  </form>`;
}

/** Adds the action. Where cvrsync wrote into the record already, the preview of their undo follows. */
export function addTakeBack(app: Server, { store, ...deps }: CompanyDeps): void {
  addAction(
    app,
    { store, ...deps },
    {
      path: PATH,
      async run({ reader, visitor, now }, fields) {
        const ref = { provider: fieldValue(fields, 'provider'), recordId: fieldValue(fields, 'record') };
        const linked = fieldValue(fields, 'linked') || undefined;
        const rejected = fieldValue(fields, 'rejected').split(BETWEEN);
        const written = { provider: ref.provider, record: ref.recordId, entity: linked };
        const done = await store.write(async (tx) => {
          if (!(await takeBackMatch(tx, ref, { linked, rejected }, now))) return undefined;
          const subject = `${ref.provider}:${ref.recordId}`;
          const entry = { actor: visitor.actor, via: 'page', action: 'match.takeBack', subject } as const;
          await recordAudit(
            tx,
            { ...entry, detail: linked === undefined ? { rejected } : { linked }, result: 'done' },
            now,
          );
          if (linked === undefined || (await countWrites(tx, written)) === 0) return at(ref);
          return runAddress(await requestPreview(tx, UNDO, { input: written, actor: visitor.actor, via: 'page' }, now));
        });
        const help = reader.text('match.notBack');
        return done ?? messagePage(reader, { status: 409, title: reader.text('nav.match'), help });
      },
    },
  );
}

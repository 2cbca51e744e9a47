/** Starts a match of a connection's records without a number. */
import type { Server } from '../../http/server/server.ts';
import { readIndexState } from '../../match/index/state.ts';
import { matchRecords } from '../../operations/connector/run-requests.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { runAddress } from '../addresses/addresses.ts';
import type { CompanyDeps } from '../companies/company-deps.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';

const RUN = '/inbox/match/run';

export const addMatchRun = (app: Server, deps: CompanyDeps): void =>
  addForm(app, deps, matchRecords, {
    path: RUN,
    input: (_visit, fields) => ({ provider: fieldValue(fields, 'provider') }),
    next: (_visit, { id }) => runAddress(id),
  });

/** A button for each connection, if there is a company index. */
export async function matchRunForms(
  { store, crms }: CompanyDeps,
  { reader, visitor, formToken }: Visit,
): Promise<Markup> {
  const ready = (await readIndexState(store.db))?.phase === 'ready';
  if (!ready || !includesRole(visitor.role, 'operator')) return null;
  return crms.map(
    ({ name, match }) =>
      match !== undefined &&
      html`<form method="post" action=${RUN} class="actions">
        ${hidden({ [FORM_TOKEN]: formToken, provider: name })}
        <button>${reader.text('match.run', { name })}</button> <span class="quiet">${reader.text('match.runHelp')}</span>
      </form>`,
  );
}

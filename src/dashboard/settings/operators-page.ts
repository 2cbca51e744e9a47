import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { createOperator, revokeOperator } from '../../operations/installation/operators.ts';
import { listOperators, type Operator, ROLES } from '../../runtime/operators/operators.ts';
import { SETTINGS } from '../addresses/addresses.ts';
import { confirmationPage, secretNotice } from '../page/confirmation.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';

export const OPERATORS = `${SETTINGS}/operators`;

/** Adds the list, the form for a new operator, and the page that revokes one. */
export function addOperators(app: Server, deps: RouteDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: OPERATORS,
    role: 'admin',
    async show(visit) {
      const { reader } = visit;
      return {
        title: reader.text('operators.title'),
        body: html`<p><a href=${SETTINGS}>${reader.text('nav.settings')}</a></p>
          ${operatorTable(visit, await listOperators(store.db))}
          <h2>${reader.text('operators.create')}</h2>
          ${creationForm(visit)}`,
      };
    },
  });
  addForm(app, deps, createOperator, {
    path: OPERATORS,
    next: (visit, { name, token }) => ({
      title: visit.reader.text('operators.made', { name }),
      body: html`${secretNotice(visit, visit.reader.text('operators.token'), token)}
        <p><a href=${OPERATORS}>${visit.reader.text('operators.title')}</a></p>`,
    }),
  });
  addPage(app, deps, {
    path: `${OPERATORS}/:name/revoke`,
    role: 'admin',
    async show(visit) {
      const { reader, param } = visit;
      const known = (await listOperators(store.db)).find(({ name }) => name === param('name'));
      if (known === undefined) return undefined;
      return confirmationPage(visit, {
        title: reader.text('operators.revokeTitle', { name: known.name }),
        help: html`<p>${reader.text('operators.revokeHelp')}</p>`,
        action: revokeAddress(known),
        submit: reader.text('operators.revoke'),
        back: OPERATORS,
      });
    },
  });
  addForm(app, deps, revokeOperator, { path: `${OPERATORS}/:name/revoke`, next: () => OPERATORS });
}

const revokeAddress = ({ name }: Pick<Operator, 'name'>): string => `${OPERATORS}/${encodeURIComponent(name)}/revoke`;

const operatorTable = ({ reader, visitor, now }: Visit, operators: readonly Operator[]): VNode =>
  table({
    label: reader.text('operators.title'),
    columns: (['name', 'role', 'created', 'state'] as const).map((column) => reader.text(`operators.${column}`)),
    rows: operators.map(({ name, role, createdAt, revokedAt }) => [
      name,
      reader.text(`role.${role}`),
      timeOf(reader, createdAt, now),
      revokedAt !== null
        ? html`${state('idle', reader.text('operators.revoked'))} ${timeOf(reader, revokedAt, now)}`
        : name === visitor.actor.name
          ? reader.text('operators.you')
          : html`<a href=${revokeAddress({ name })}>${reader.text('operators.revokeLink')}<span class="unseen"> ${name}</span></a>`,
    ]),
  });

const creationForm = ({
  reader,
  formToken,
}: Visit): VNode => html`<form method="post" action=${OPERATORS} class="stacked">
  ${hidden({ [FORM_TOKEN]: formToken })}
  <div>
    <label for="name">${reader.text('operators.name')}</label>
    <input id="name" name="name" required maxlength="100" autocomplete="off" />
  </div>
  <div>
    <label for="role">${reader.text('operators.role')}</label>
    <select id="role" name="role">
      ${ROLES.map((role) => html`<option value=${role}>${reader.text(`role.${role}`)}</option>`)}
    </select>
  </div>
  <p><button class="primary">${reader.text('operators.create')}</button></p>
</form>`;

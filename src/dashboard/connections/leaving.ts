/** Leaving a connection and returning to it: the page that asks, and the part of the connection's page. */
import type { VNode } from 'preact';
import type { Crm } from '../../connector/crm/crm.ts';
import { countOpenLinks } from '../../connector/links/end-all.ts';
import { readLeft } from '../../connector/links/left.ts';
import type { Server } from '../../http/server/server.ts';
import { requestLeave, returnTo } from '../../operations/connector/leaving.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { connectionAddress, runAddress } from '../addresses/addresses.ts';
import { confirmationPage } from '../page/confirmation.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';

interface LeavingDeps extends RouteDeps {
  readonly crms: readonly Crm[];
}

const leaveAddress = (name: string): string => `${connectionAddress(name)}/leave`;
const returnAddress = (name: string): string => `${connectionAddress(name)}/return`;

/** Adds the page, the action that requests a preview, and the one that returns. */
export function addLeaving(app: Server, deps: LeavingDeps): void {
  addPage(app, deps, {
    path: '/connections/:name/leave',
    role: 'admin',
    async show(visit) {
      const crm = deps.crms.find(({ name }) => name === visit.param('name'));
      return crm && leavePage(deps, visit, crm);
    },
  });
  addForm(app, deps, requestLeave, {
    path: '/connections/:name/leave',
    input: ({ param }, fields) => ({
      provider: param('name'),
      undo: fieldValue(fields, 'undo') !== '',
      removeProperties: fieldValue(fields, 'removeProperties') !== '',
    }),
    next: (_visit, { id }) => runAddress(id),
    refused: ({ param }, { kind }) => (kind === 'conflict' ? connectionAddress(param('name')) : undefined),
  });
  addForm(app, deps, returnTo, {
    path: '/connections/:name/return',
    input: ({ param }) => ({ provider: param('name') }),
    confirm: (visit, { count }) => {
      const name = visit.param('name');
      return confirmationPage(visit, {
        title: visit.reader.text('return.title', { name }),
        help: html`<p>${visit.reader.text('return.confirm', { count })}</p>
          <p>${visit.reader.text('return.help')}</p>`,
        action: returnAddress(name),
        fields: { confirmed: 'yes' },
        submit: visit.reader.text('return.title', { name }),
        back: connectionAddress(name),
      });
    },
    next: (_visit, { provider }) => connectionAddress(provider),
    refused: ({ param }, { kind }) => (kind === 'conflict' ? connectionAddress(param('name')) : undefined),
  });
}

/** The most links to count. The preview lists them all. */
export const MOST_COUNTED = 1_000;

/** What the page says of companies that another connection also links. */
export function keptMonitoring(
  reader: Reader,
  { isMany, shared }: { readonly isMany: boolean; readonly shared: number },
): string | undefined {
  if (isMany) return reader.text('leave.sharedAny');
  return shared > 0 ? reader.text('leave.shared', { count: shared }) : undefined;
}

async function leavePage({ store }: LeavingDeps, { reader, formToken }: Visit, { name }: Crm): Promise<PageBody> {
  const { links, shared } = await countOpenLinks(store.db, name, MOST_COUNTED + 1);
  const isMany = links > MOST_COUNTED;
  const mayRemove = (text: string, key: string): VNode =>
    html`<label class="check"><input type="checkbox" name=${key} value="yes" /> <span>${text}</span></label>`;
  return {
    title: reader.text('leave.title', { name }),
    body: html`<p>${reader.text('leave.help')}</p>
      <ul>
        <li>${isMany ? reader.text('leave.manyLinks', { number: MOST_COUNTED }) : reader.text('leave.links', { count: links })} ${keptMonitoring(reader, { isMany, shared })}</li>
        <li>${reader.text('leave.stops')}</li>
        <li>${reader.text('leave.stays')}</li>
      </ul>
      <form method="post" action=${leaveAddress(name)} class="narrow form">
        ${hidden({ [FORM_TOKEN]: formToken })} ${mayRemove(reader.text('leave.undo'), 'undo')}
        ${mayRemove(reader.text('leave.removeProperties'), 'removeProperties')}
        <p class="actions">
          <button class="primary">${reader.text('leave.preview')}</button>
          <span class="quiet">${reader.text('leave.previewHelp')}</span>
        </p>
      </form>
      <p><a href=${connectionAddress(name)}>${name}</a></p>`,
  };
}

/** Offers to leave the connection, or to return to one that was left. */
export async function leavingSection({ store }: LeavingDeps, visit: Visit, name: string): Promise<Markup> {
  const { reader, visitor, formToken, now } = visit;
  const isAdmin = includesRole(visitor.role, 'admin');
  const left = await readLeft(store.db, name);
  const ask = html`<p class="actions"><a href=${leaveAddress(name)}>${reader.text(left === undefined ? 'leave.ask' : 'leave.more', { name })}</a></p>`;
  if (left === undefined) return isAdmin && ask;
  return html`<section class="notice warn">
    <h2>${reader.text('left.title', { name })}</h2>
    <p>
      ${reader.text('overview.leftBy', { name: left.by })} ${timeOf(reader, left.at, now)}.
      ${reader.text('left.help')} <a href=${runAddress(left.run)}>${reader.text('left.run')}</a>
    </p>
    <p>${reader.text('left.file')} <code>${`connector.providers.${name}`}</code></p>
    ${
      isAdmin
        ? html`<form method="post" action=${returnAddress(name)}>
              ${hidden({ [FORM_TOKEN]: formToken })}
              <button>${reader.text('return.ask', { name })}</button>
            </form>
            ${ask}`
        : html`<p class="quiet">${reader.text('leave.adminOnly')}</p>`
    }
  </section>`;
}

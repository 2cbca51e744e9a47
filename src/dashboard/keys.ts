/** The page of API keys: lists them, shows a new one once, and ends one. */
import type { VNode } from 'preact';
import type { Server } from '../http/server/server.ts';
import { createKey, revokeKey } from '../operations/service/keys.ts';
import { includesRole } from '../runtime/operators/operators.ts';
import { OWN_CONNECTOR } from '../service/delivery/own-jobs.ts';
import { type ApiKey, getKey, listKeys, SCOPES, USUAL_SCOPES } from '../service/keys/keys.ts';
import { enabledJobs } from '../service/monitors/jobs.ts';
import { monitorAddress } from './addresses/addresses.ts';
import { monitorTabs } from './monitors/list.ts';
import { confirmationPage, secretNotice } from './page/confirmation.ts';
import { FORM_TOKEN } from './page/fields.ts';
import { html, type Markup } from './page/html.ts';
import { hidden, messagePage } from './page/messages.ts';
import { state, table, timeOf } from './page/parts.ts';
import type { Visit } from './page/visit.ts';
import { addForm, idIn } from './routes/operation-form.ts';
import { addPage, type ServicePageDeps } from './routes/routes.ts';

export function addKeys(app: Server, deps: ServicePageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/keys',
    async show(visit) {
      const { reader, visitor } = visit;
      const keys = await listKeys(store.db);
      return {
        title: reader.text('nav.keys'),
        body: html`${monitorTabs(reader, 'keys')}
          <p>${reader.text('keys.help')}</p>
          ${keys.length === 0 ? html`<p>${reader.text('keys.empty')}</p>` : keyTable(visit, keys)}
          ${includesRole(visitor.role, 'admin') && html`<h2>${reader.text('keys.create')}</h2> ${creationForm(visit)}`}`,
      };
    },
  });
  addCreation(app, deps);
  addRevocation(app, deps);
}

function keyTable({ reader, visitor, now }: Visit, keys: readonly ApiKey[]): VNode {
  const isAdmin = includesRole(visitor.role, 'admin');
  const columns = ['name', 'state', 'scopes', 'created', 'used', ...(isAdmin ? (['action'] as const) : [])] as const;
  return table({
    label: reader.text('nav.keys'),
    columns: columns.map((column) => reader.text(`keys.${column}`)),
    rows: keys.map(({ id, name, scopes, createdAt, usedAt, revokedAt }) => [
      html`<div class="wide">${name} <code class="quiet">${id}</code></div>`,
      revokedAt === null
        ? state('ok', reader.text('keys.active'))
        : html`${state('idle', reader.text('keys.revoked'))} <span class="quiet">${timeOf(reader, revokedAt, now)}</span>`,
      scopes.join(', '),
      timeOf(reader, createdAt),
      usedAt === null ? reader.text('keys.never') : timeOf(reader, usedAt, now),
      ...(isAdmin
        ? [
            revokedAt === null &&
              id !== OWN_CONNECTOR &&
              html`<a href=${`/keys/${encodeURIComponent(id)}/revoke`}>${reader.text('keys.revokeLink')}</a>`,
          ]
        : []),
    ]),
  });
}

function creationForm({ reader, formToken }: Visit): VNode {
  return html`<form method="post" action="/keys" class="stacked">
    ${hidden({ [FORM_TOKEN]: formToken, id: crypto.randomUUID() })}
    <div>
      <label for="name">${reader.text('keys.owner')}</label>
      <input id="name" name="name" required maxlength="256" autocomplete="off" />
    </div>
    <fieldset>
      <legend>${reader.text('keys.scopes')}</legend>
      ${SCOPES.map(
        (scope) => html`<div class="choice">
          <input type="checkbox" id=${`scope-${scope}`} name="scope" value=${scope} checked=${USUAL_SCOPES.includes(scope)} />
          <label for=${`scope-${scope}`}><code>${scope}</code> ${reader.text(`scope.${scope}`)}</label>
        </div>`,
      )}
    </fieldset>
    <p><button class="primary">${reader.text('keys.create')}</button></p>
  </form>`;
}

function addCreation(app: Server, deps: ServicePageDeps): void {
  addForm(app, deps, createKey, {
    path: '/keys',
    names: { scopes: 'scope' },
    caller: idIn,
    next: (visit, { name, key }) => ({
      title: visit.reader.text('keys.made', { name }),
      body: html`${secretNotice(visit, visit.reader.text('keys.key'), key)}
        <p><a href="/keys">${visit.reader.text('nav.keys')}</a></p>`,
    }),
    refused({ reader }, { kind }) {
      // The form was sent twice: the first answer shows the key.
      if (kind === 'conflict')
        return messagePage(reader, {
          status: 409,
          title: reader.text('keys.already'),
          help: reader.text('keys.again'),
        });
      return messagePage(reader, {
        status: 422,
        title: reader.text('error.invalid'),
        help: reader.text('keys.invalid'),
      });
    },
  });
}

function addRevocation(app: Server, deps: ServicePageDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/keys/:id/revoke',
    role: 'admin',
    async show(visit) {
      const { reader, param } = visit;
      const key = await getKey(store.db, param('id'));
      if (key === undefined) return undefined;
      return confirmationPage(visit, {
        title: reader.text('revoke.title', { name: key.name }),
        help: html`<p>${reader.text('revoke.help')}</p> ${await jobList(deps, visit, key)}`,
        action: `/keys/${encodeURIComponent(key.id)}/revoke`,
        submit: reader.text('revoke.submit'),
        back: '/keys',
      });
    },
  });
  addForm(app, deps, revokeKey, { path: '/keys/:id/revoke', next: () => '/keys' });
}

/** The jobs that the end of a key disables, and the choice to keep them enabled. */
async function jobList({ store }: ServicePageDeps, { reader }: Visit, { id }: ApiKey): Promise<Markup> {
  const jobs = await enabledJobs(store.db, id);
  if (jobs.length === 0) return html`<p>${reader.text('revoke.noJobs')}</p>`;
  return html`<p>${reader.text('revoke.jobs', { count: jobs.length })}</p>
    <ul>
      ${jobs.map((job) => html`<li><a href=${monitorAddress(job.id)}>${job.name}</a></li>`)}
    </ul>
    <div class="choice">
      <input type="checkbox" id="keepJobs" name="keepJobs" value="yes" />
      <label for="keepJobs">${reader.text('revoke.keepJobs')}</label>
    </div>`;
}

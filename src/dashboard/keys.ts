/** The page of API keys: who may call the service, a new key shown once, and the end of one. */
import type { VNode } from 'preact';
import type { Server } from '../http/server/server.ts';
import { recordAudit } from '../runtime/operators/audit.ts';
import { includesRole } from '../runtime/operators/operators.ts';
import { OWN_CONNECTOR } from '../service/delivery/own-jobs.ts';
import { type ApiKey, createKey, getKey, listKeys, SCOPES, type Scope, USUAL_SCOPES } from '../service/keys/keys.ts';
import { enabledJobs, revokeKeyAndJobs } from '../service/monitors/jobs.ts';
import { monitorAddress } from './addresses/addresses.ts';
import { monitorTabs } from './monitors/list.ts';
import { confirmationPage, secretNotice } from './page/confirmation.ts';
import { type Fields, FORM_TOKEN, fieldValue, fieldValues } from './page/fields.ts';
import { html, type Markup } from './page/html.ts';
import type { PageBody } from './page/layout.ts';
import { hidden, messagePage, notFoundPage } from './page/messages.ts';
import { state, table, timeOf } from './page/parts.ts';
import type { Visit } from './page/visit.ts';
import { addAction, addPage, type ServicePageDeps } from './routes/routes.ts';

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Adds the page and its actions. */
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
  addAction(app, deps, { path: '/keys', role: 'admin', run: (visit, fields) => create(deps, visit, fields) });
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

async function create({ store }: ServicePageDeps, visit: Visit, fields: Fields): Promise<PageBody> {
  const { reader, visitor, now } = visit;
  const [id, name] = [fieldValue(fields, 'id'), fieldValue(fields, 'name').trim()];
  const asked = new Set(fieldValues(fields, 'scope'));
  const scopes: readonly Scope[] = SCOPES.filter((scope) => asked.has(scope));
  if (!GUID.test(id) || !/^[^\p{Cc}]{1,256}$/u.test(name) || scopes.length === 0)
    return messagePage(reader, { status: 422, title: reader.text('error.invalid'), help: reader.text('keys.invalid') });
  const made = await store.write(async (tx) => {
    // The form was sent twice: the other answer shows the key.
    if ((await getKey(tx, id)) !== undefined) return undefined;
    const entry = { actor: visitor.actor, via: 'page', action: 'key.create', subject: id } as const;
    await recordAudit(tx, { ...entry, detail: { name, scopes }, result: 'created' }, now);
    return await createKey(tx, { id, name, scopes }, now);
  });
  if (made === undefined)
    return messagePage(reader, { status: 409, title: reader.text('keys.already'), help: reader.text('keys.again') });
  return {
    title: reader.text('keys.made', { name }),
    body: html`${secretNotice(visit, reader.text('keys.key'), made.key)}
      <p><a href="/keys">${reader.text('nav.keys')}</a></p>`,
  };
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
  addAction(app, deps, {
    path: '/keys/:id/revoke',
    role: 'admin',
    async run({ reader, visitor, param, now }, fields) {
      const id = param('id');
      const keepJobs = fieldValue(fields, 'keepJobs') !== '';
      const exists = await store.write(async (tx) => {
        const key = await getKey(tx, id);
        if (key === undefined || key.revokedAt !== null) return key !== undefined;
        const jobs = (await revokeKeyAndJobs(tx, id, { keepJobs, now })) ?? [];
        const entry = { actor: visitor.actor, via: 'page', action: 'key.revoke', subject: id } as const;
        const result = `revoked; ${jobs.length} jobs ${keepJobs ? 'left on' : 'switched off'}`;
        await recordAudit(tx, { ...entry, detail: { name: key.name }, result }, now);
        return true;
      });
      return exists ? '/keys' : notFoundPage(reader);
    },
  });
}

/** The jobs that a key's end switches off, and the choice to leave them on. */
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

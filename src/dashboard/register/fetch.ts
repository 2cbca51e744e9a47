/** Fetches a company from the register now, and shows what is known of it. */
import type { Server } from '../../http/server/server.ts';
import { entityIdIn } from '../../protocol/cvr-number.ts';
import { parseEntityId } from '../../protocol/entity-id.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { ASK_QUEUE } from '../../service/names/queues.ts';
import { findRequest, requestCompany } from '../../service/register/watch/fetch-missing.ts';
import { readNames } from '../../service/register/watch/snapshots.ts';
import type { Db } from '../../store/store.ts';
import { companyAddress } from '../addresses/addresses.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { livePart, state, timeOf } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, type ServicePageDeps } from '../routes/routes.ts';

export function addFetch(app: Server, deps: ServicePageDeps): void {
  const { store, management } = deps;
  addAction(app, deps, {
    path: '/register/fetch',
    async run({ reader, visitor, now }, fields) {
      const entity = companyIn(fieldValue(fields, 'company'));
      if (entity === undefined || !management.register.canFind)
        return messagePage(reader, {
          status: 422,
          title: reader.text('error.invalid'),
          help: reader.text(entity === undefined ? 'fetch.unreadable' : 'fetch.cannot'),
        });
      await store.write(async (tx) => {
        // A second request would fetch it twice.
        if ((await findRequest(tx, entity)) !== undefined) return;
        await requestCompany(tx, entity, now);
        const entry = { actor: visitor.actor, via: 'page', action: 'company.fetch', subject: entity } as const;
        await recordAudit(tx, { ...entry, result: 'asked for' }, now);
      });
      management.wakeUp.ring(ASK_QUEUE);
      return `/register?company=${entity}#fetch`;
    },
  });
}

/** The form, and the requested company. */
export async function fetchSection({ store, management, halves }: ServicePageDeps, visit: Visit): Promise<Markup> {
  const { reader, visitor, formToken, query } = visit;
  if (!management.register.canFind) return html`<p class="quiet">${reader.text('fetch.cannot')}</p>`;
  const entity = companyIn(query('company'));
  return html`<p class="quiet">${reader.text('fetch.help')}</p>
    ${
      includesRole(visitor.role, 'operator') &&
      html`<form method="post" action="/register/fetch" class="filters">
        ${hidden({ [FORM_TOKEN]: formToken })}
        <div>
          <label for="company">${reader.text('fetch.company')}</label>
          <input id="company" name="company" required autocomplete="off" value=${query('company')} />
        </div>
        <button>${reader.text('fetch.submit')}</button>
      </form>`
    }
    ${entity !== undefined && (await companyState(store.db, visit, entity, halves.connector))}`;
}

const companyIn = (text: string): string | undefined => {
  const id = parseEntityId(entityIdIn(text.trim()) ?? '');
  return id?.kind === 'company' ? id.canonical : undefined;
};

async function companyState(db: Db, visit: Visit, entity: string, hasPages: boolean): Promise<Markup> {
  const { reader, now } = visit;
  const known = await db
    .selectFrom('snapshot')
    .select(['loaded_at', 'updated_at'])
    .where('entity', '=', entity)
    .executeTakeFirst();
  const name = (await readNames(db, [entity])).get(entity);
  const lane = await findRequest(db, entity);
  return livePart(
    visit,
    { id: 'fetch', refreshes: lane ? 'soon' : 'never' },
    html`<h3>${name ?? entity}</h3>
    ${lane && html`<p>${state('idle', reader.text('fetch.waiting'))} ${said(reader, lane.error)}</p>`}
    ${!lane && known === undefined && html`<p>${state('warn', reader.text('fetch.unknown'))}</p>`}
    ${
      known &&
      html`<dl class="facts">
        <dt>${reader.text('fetch.loadedAt')}</dt><dd>${timeOf(reader, Date.parse(known.loaded_at))}</dd>
        <dt>${reader.text('fetch.storedAt')}</dt><dd>${timeOf(reader, known.updated_at, now)}</dd>
      </dl>`
    }
    ${known && hasPages && html`<p><a href=${companyAddress(entity)}>${reader.text('fetch.toCompany')}</a></p>`}`,
  );
}

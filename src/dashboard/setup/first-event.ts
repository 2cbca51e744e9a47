/** The page after a set-up with another monitoring service: whether its first event arrived. */
import type { Server } from '../../http/server/server.ts';
import { type Settings, valueAt } from '../../setup/questions.ts';
import type { Db } from '../../store/store.ts';
import type { Installation } from '../installation/installation.ts';
import { html } from '../page/html.ts';
import { livePart, state, timeOf } from '../page/parts.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';

export function addFirstEvent(app: Server, deps: RouteDeps & { readonly installation: Installation }): void {
  addPage(app, deps, {
    path: '/first-event',
    role: 'operator',
    async show(visit) {
      const { reader, now } = visit;
      const at = await firstEventAt(deps.store.db);
      const body =
        at === undefined
          ? html`<p>${reader.text('event.waiting')}</p>
              <p><code class="secret">${addressIn({ ...deps.installation.shownConfig() })}</code></p>`
          : html`<p>${state('ok', reader.text('event.received'))} ${timeOf(reader, at, now)}</p>`;
      return {
        title: reader.text('event.title'),
        body: html`${livePart(visit, { id: 'event', refreshes: at === undefined ? 'soon' : 'never' }, body)}
          <p><a class="button" href="/backfill">${reader.text('event.next')}</a></p>`,
      };
    },
  });
}

/** When the earliest stored event arrived. */
async function firstEventAt(db: Db): Promise<number | undefined> {
  const [receipt, arrival] = await Promise.all([
    db.selectFrom('receipt').select('received_at').orderBy('seq').limit(1).executeTakeFirst(),
    db.selectFrom('arrival').select('received_at').orderBy('seq').limit(1).executeTakeFirst(),
  ]);
  return (receipt ?? arrival)?.received_at;
}

function addressIn(shown: Settings): string {
  const url = valueAt(shown, ['config', 'server', 'publicUrl']) ?? '';
  return `${url}${valueAt(shown, ['config', 'connector', 'webhook', 'path']) ?? ''}`;
}

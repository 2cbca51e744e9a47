/** The page of an operator's sessions. */
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import {
  endSession,
  IDLE_MS,
  LONGEST_MS,
  listSessions,
  type OperatorSession,
} from '../../runtime/operators/sessions.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import { keySwitch } from '../page/key-switch.ts';
import { hidden } from '../page/messages.ts';
import { keyHelp } from '../page/navigation-keys.ts';
import { table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { languageChoice } from './language.ts';

/** Adds the page, and the action that ends a session. */
export function addSessions(app: Server, deps: RouteDeps): void {
  const { store } = deps;
  addPage(app, deps, {
    path: '/sessions',
    async show(visit) {
      const { reader, visitor, now } = visit;
      const title = reader.text('nav.sessions');
      const sessions = await listSessions(store.db, visitor.actor.name, now);
      return {
        title,
        body: html`<p>${reader.text('sessions.help', { hours: IDLE_MS / 3_600_000, days: LONGEST_MS / 86_400_000 })}</p> ${sessionTable(visit, sessions)} ${languageChoice(reader, '/sessions')} ${keySwitch(reader)} ${keyHelp(reader)}`,
      };
    },
  });

  addAction(app, deps, {
    path: '/sessions/end',
    role: 'viewer',
    async run({ visitor: { actor, session }, now }, fields) {
      const hash = fieldValue(fields, 'session');
      await store.write(async (tx) => {
        const ended = await endSession(tx, actor.name, hash);
        const entry = { actor, via: 'page', action: 'session.end' } as const;
        if (ended) await recordAudit(tx, { ...entry, result: 'ended from the list of sessions' }, now);
      });
      return hash === session.hash ? '/login' : '/sessions';
    },
  });
}

function sessionTable({ reader, visitor, now, formToken }: Visit, sessions: readonly OperatorSession[]) {
  const rows = sessions.map(({ hash, agent, createdAt, seenAt, endsAt }) => [
    html`<span title=${agent}>${browserName(agent)}</span> ${hash === visitor.session.hash && html`<strong>(${reader.text('sessions.here')})</strong>`}`,
    timeOf(reader, createdAt),
    timeOf(reader, seenAt, now),
    timeOf(reader, endsAt),
    html`<form method="post" action="/sessions/end">
      ${hidden({ [FORM_TOKEN]: formToken, session: hash })}
      <button aria-label=${`${reader.text('sessions.end')}: ${browserName(agent)}`}>${reader.text('sessions.end')}</button>
    </form>`,
  ]);
  const columns = ['browser', 'started', 'seen', 'ends', 'action'] as const;
  return table({
    label: reader.text('nav.sessions'),
    columns: columns.map((column) => reader.text(`sessions.${column}`)),
    rows,
  });
}

const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'] as const;

/** A browser's long name for itself as people call it; the long name if it is none of the usual ones. */
export function browserName(agent: string): string {
  const browser = BROWSERS.find(([mark]) => agent.includes(`${mark}/`))?.[1];
  const system = SYSTEMS.find((name) => agent.includes(name));
  return browser === undefined ? agent : [browser, system].filter((part) => part !== undefined).join(' · ');
}

import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { hasToken, renewToken } from '../../runtime/operators/operators.ts';
import {
  endSession,
  IDLE_MS,
  LONGEST_MS,
  listSessions,
  type OperatorSession,
} from '../../runtime/operators/sessions.ts';
import { secretNotice } from '../page/confirmation.ts';
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
        body: html`<p>${reader.text('sessions.help', { hours: IDLE_MS / 3_600_000, days: LONGEST_MS / 86_400_000 })}</p> ${sessionTable(visit, sessions)} ${(await hasToken(store.db, visitor.actor.name)) && tokenForm(visit)} ${languageChoice(reader, '/sessions')} ${keySwitch(reader)} ${keyHelp(reader)}`,
      };
    },
  });

  addAction(app, deps, {
    path: '/sessions/token',
    role: 'viewer',
    async run(visit) {
      const { visitor, reader, now } = visit;
      const { actor } = visitor;
      const token = await store.write(async (tx) => {
        const made = await renewToken(tx, actor.name);
        const entry = { actor, via: 'page', action: 'operator.token', subject: actor.name } as const;
        if (made !== undefined) await recordAudit(tx, { ...entry, result: 'a new one in place of the former' }, now);
        return made;
      });
      if (token === undefined) return '/sessions';
      return {
        title: reader.text('nav.sessions'),
        body: html`${secretNotice(visit, reader.text('operators.token'), token)}
          <p>${reader.text('sessions.tokenUse')}</p>
          <p><a href="/sessions">${reader.text('nav.sessions')}</a></p>`,
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

/** Offers a token: somebody who came by a link has no other way to sign in again. */
const tokenForm = ({ reader, formToken }: Visit): VNode => html`<section>
  <h2>${reader.text('sessions.token')}</h2>
  <p>${reader.text('sessions.tokenHelp')}</p>
  <form method="post" action="/sessions/token">
    ${hidden({ [FORM_TOKEN]: formToken })}
    <button>${reader.text('sessions.makeToken')}</button>
  </form>
</section>`;

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

/** The usual name of a browser; its user agent if unknown. */
export function browserName(agent: string): string {
  const browser = BROWSERS.find(([mark]) => agent.includes(`${mark}/`))?.[1];
  const system = SYSTEMS.find((name) => agent.includes(name));
  return browser === undefined ? agent : [browser, system].filter((part) => part !== undefined).join(' · ');
}

/** The frame of every page: head, navigation, who is signed in, content, footer. */
import type { VNode } from 'preact';
import type { TextKey } from '../texts/texts.ts';
import { assetUrl } from './assets.ts';
import { FORM_TOKEN } from './fields.ts';
import { html, type Markup } from './html.ts';
import { navigationKey } from './navigation-keys.ts';
import type { Reader } from './reader.ts';
import type { Visitor } from './visit.ts';

/** A page without its frame. */
export interface PageBody {
  readonly title: string;
  readonly body: Markup;
  /** The HTTP status; 200 by default. */
  readonly status?: number;
}

/** The configured halves of cvrsync; pages show only these. */
export interface Halves {
  readonly connector: boolean;
  readonly service: boolean;
  /** Neither runs yet: only the set-up has pages. */
  readonly isSetUp?: true;
}

export interface Frame {
  readonly reader: Reader;
  /** Undefined for those who are not signed in: they see no navigation. */
  readonly visitor: Visitor | undefined;
  readonly formToken: string;
  readonly path: string;
  /** How many entries of the inbox wait, up to one more than {@link MOST_WAITING}. */
  readonly waiting?: number | undefined;
  readonly halves: Halves;
}

/** A higher count is shown as "1,000+". */
export const MOST_WAITING = 1_000;

interface NavigationItem {
  readonly path: string;
  readonly text: TextKey;
  /** The half it needs; either by default. */
  readonly half?: keyof Halves;
  /** Pages that belong to it. */
  readonly also?: readonly string[];
}

const NAVIGATION: readonly NavigationItem[] = [
  { path: '/', text: 'nav.overview' },
  { path: '/inbox', text: 'nav.inbox' },
  { path: '/companies', text: 'nav.companies', half: 'connector' },
  { path: '/backfill', text: 'nav.backfill', half: 'connector' },
  { path: '/writes', text: 'nav.writes', half: 'connector', also: ['/holds'] },
  { path: '/connections', text: 'nav.connections', half: 'connector' },
  { path: '/deliveries', text: 'nav.deliveries', half: 'service' },
  { path: '/monitors', text: 'nav.monitors', half: 'service', also: ['/jobs', '/keys'] },
  { path: '/register', text: 'nav.register', half: 'service' },
  { path: '/runs', text: 'nav.runs' },
  { path: '/audit', text: 'nav.audit' },
  { path: '/settings', text: 'nav.settings' },
  { path: '/installation', text: 'nav.installation' },
];

export function layout(frame: Frame, { title, body }: PageBody): VNode {
  const { reader, visitor, path } = frame;
  return html`<html lang=${reader.locale}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title} · cvrsync</title>
      <link rel="icon" href=${assetUrl('icon.svg')} type="image/svg+xml" />
      <link rel="stylesheet" href=${assetUrl('style.css')} />
      <script type="module" src=${assetUrl('dashboard.js')}></script>
      <script type="module" src=${assetUrl('live.js')}></script>
      ${path === '/inbox' && html`<script type="module" src=${assetUrl('inbox.js')}></script>`}
      ${path === '/' && html`<script type="module" src=${assetUrl('charts.js')}></script>`}
    </head>
    <body>
      <a class="skip" href="#content">${reader.text('nav.skip')}</a>
      <header class="top">
        <a class="brand" href="/">cvrsync</a>
        ${visitor && search(frame)} ${visitor && account(frame, visitor)} ${visitor && frame.halves.isSetUp === undefined && navigation(frame)}
      </header>
      <main id="content" tabindex="-1">
        <h1>${title}</h1>
        ${visitor && html`<p class="zone quiet">${reader.text('page.zone', { zone: reader.timeZone })}</p>`} ${visitor && staleNotice(frame)}
        ${body}
      </main>
    </body>
  </html>`;
}

/** The page's script shows this when the figures are old. */
const staleNotice = ({ reader, path }: Frame): VNode => html`<div id="stale" class="notice bad" role="alert" hidden>
  <p data-stale="silent">${reader.text('stale.silent')}</p>
  <p data-stale="ended">
    ${reader.text('stale.ended')} <a href=${`/login?next=${encodeURIComponent(path)}`}>${reader.text('stale.signIn')}</a>
  </p>
</div>`;

const navigation = ({
  reader,
  path,
  halves,
  waiting = 0,
}: Frame): VNode => html`<nav aria-label=${reader.text('nav.label')}>
  <ul>
    ${NAVIGATION.filter(({ half }) => half === undefined || halves[half]).map(
      (item) =>
        html`<li>
          ${navigationLink(reader, item, path)}${item.path === '/inbox' && waiting > 0 && waitingCount(reader, waiting)}
        </li>`,
    )}
  </ul>
</nav>`;

const waitingCount = (reader: Reader, waiting: number): VNode =>
  html` <span class="count" title=${reader.text('nav.waiting')}>${waiting > MOST_WAITING ? `${reader.number(MOST_WAITING)}+` : reader.number(waiting)}<span class="unseen"> ${reader.text('nav.waiting')}</span></span>`;

function navigationLink(reader: Reader, item: NavigationItem, path: string): VNode {
  const isHere = [item.path, ...(item.also ?? [])].some((place) => isWithin(path, place));
  const key = navigationKey(item.path);
  const title = key && reader.text('nav.byKeys', { key });
  return html`<a href=${item.path} title=${title} data-go=${key} aria-current=${isHere ? 'page' : undefined}>${reader.text(item.text)}</a>`;
}

/** The search for a company, on every page but its own. A record's address in the CRM leads directly to its company. */
const search = ({ reader, path, halves }: Frame): Markup =>
  halves.connector &&
  path !== '/companies' &&
  html`<form class="search" action="/companies" role="search">
    <input
      name="q"
      type="search"
      maxlength="500"
      aria-label=${reader.text('companies.search')}
      title=${reader.text('companies.search')}
      placeholder=${reader.text('companies.find')}
    />
  </form>`;

const isWithin = (path: string, place: string): boolean =>
  path === place || (place !== '/' && path.startsWith(`${place}/`));

const account = ({ reader, formToken }: Frame, { actor, role }: Visitor): VNode =>
  html`<div class="account">
    <a href="/sessions">${actor.name} <span class="quiet">${reader.text(`role.${role}`)}</span></a>
    <form method="post" action="/logout">
      <input type="hidden" name=${FORM_TOKEN} value=${formToken} />
      <button class="plain">${reader.text('login.signOut')}</button>
    </form>
  </div>`;

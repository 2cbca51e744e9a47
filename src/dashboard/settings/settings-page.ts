/** Settings: links to all that can be changed, and the state of changes of the file. */
import type { VNode } from 'preact';
import type { CrmDeps } from '../../connector/crm/crm.ts';
import { findProposals } from '../../connector/proposals/proposals.ts';
import type { Server } from '../../http/server/server.ts';
import type { ConfigNeeds } from '../../operations/installation/configuration.ts';
import type { DigestNeeds } from '../../operations/installation/digest.ts';
import { includesRole, type Role } from '../../runtime/operators/operators.ts';
import type { SetUpGround } from '../../setup/connections.ts';
import { createEffects } from '../../setup/trials/effects.ts';
import { createTrials } from '../../setup/trials/trials.ts';
import { CONFIGURATION, SETTINGS, SETTINGS_CHANGES } from '../addresses/addresses.ts';
import { fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { livePart, state } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';
import { addCrm } from '../steps/crm-page.ts';
import { addMapping } from '../steps/mapping-page.ts';
import { addNumber } from '../steps/number-page.ts';
import { addSource } from '../steps/source-page.ts';
import { ALERTS_PAGE, addAlerts } from './alerts-page.ts';
import { changesPage } from './changes-page.ts';
import { addOperators, OPERATORS } from './operators-page.ts';
import { discardChanges, readChanging, type SettingsDeps, saveChanges, settingsWay } from './settings-way.ts';
import { addZone, ZONE_PAGE } from './zone-page.ts';

export interface SettingsGround extends SetUpGround, Pick<DigestNeeds, 'digest'> {
  /** Makes the daemon read its file again. */
  readonly reread: () => void;
}

interface GivenDeps extends RouteDeps, Pick<CrmDeps, 'http' | 'metrics'> {
  readonly configuration: ConfigNeeds['configuration'];
  readonly crms: readonly { readonly name: string }[];
  readonly installation: { readonly mask: (text: string) => string };
}

interface SettingsPageDeps extends SettingsDeps, Pick<DigestNeeds, 'digest'> {
  readonly configuration: ConfigNeeds['configuration'];
  /** The connections at work. */
  readonly crms: readonly { readonly name: string }[];
}

/** Adds the page, its steps, and the page of unsaved changes. */
export function addSettings(app: Server, given: GivenDeps, ground: SettingsGround): void {
  const { store, http, metrics, now, installation } = given;
  const crm: CrmDeps = { store, http, metrics, now };
  const deps: SettingsPageDeps = {
    ...{ ...given, ...ground, crm, mask: installation.mask },
    ...{ trials: createTrials(crm), effects: createEffects(crm) },
  };
  addPage(app, deps, { path: SETTINGS, show: async (visit) => doorsPage(deps, visit) });
  const steps = { ...deps, way: settingsWay(deps) };
  for (const add of [addCrm, addNumber, addMapping, addSource]) add(app, steps);
  addAlerts(app, deps);
  addOperators(app, deps);
  addZone(app, deps);
  addPage(app, deps, {
    path: SETTINGS_CHANGES,
    role: 'admin',
    async show(visit) {
      const changing = await readChanging(deps, visit);
      return changing.kind === 'read' ? changesPage(deps, visit, changing) : SETTINGS;
    },
  });
  addPage(app, deps, { path: `${SETTINGS}/saved`, role: 'admin', show: (visit) => savedPage(deps, visit) });
  addAction(app, deps, {
    path: `${SETTINGS}/save`,
    role: 'admin',
    run: (visit, fields) =>
      saveChanges(deps, visit, {
        seen: fieldValue(fields, 'file') || undefined,
        next: ownPlace(fieldValue(fields, 'next')),
      }),
  });
  addAction(app, deps, {
    path: `${SETTINGS}/discard`,
    role: 'admin',
    async run(visit) {
      await discardChanges(deps, visit);
      return SETTINGS;
    },
  });
}

/** A page of Settings. */
const ownPlace = (path: string): string => (/^\/settings(?:\/[\w.%-]+)*$/u.test(path) ? path : SETTINGS);

/** After saving: the daemon reads the file again, and a change of records waits for acceptance. */
async function savedPage({ store, configuration, place }: SettingsPageDeps, visit: Visit): Promise<PageBody> {
  const { reader } = visit;
  const proposals = await findProposals(store.db, configuration.rules());
  const body =
    proposals.length === 0
      ? html`<p>${state('ok', reader.text('settings.inForce'))}</p>`
      : html`<p>${state('warn', reader.text('settings.waits'))}</p>
          <p><a class="button primary" href=${CONFIGURATION}>${reader.text('settings.look')}</a></p>`;
  return {
    title: reader.text('settings.saved'),
    body: html`<p>${reader.text('settings.written')} <code>${place.file}</code></p>
      ${livePart(visit, { id: 'saved', refreshes: 'soon' }, body)}
      ${waysOn(visit, ownPlace(visit.query('next')))}`,
  };
}

/** Links from a connection's number to its mapping and its backfill. */
function waysOn({ reader }: Visit, next: string): VNode {
  const [, step, name] = /^\/settings\/(number|mapping)\/([\w.%-]+)$/u.exec(next) ?? [];
  return html`<ul class="lines">
    ${step === 'number' && html`<li><a href=${`${SETTINGS}/mapping/${name}`}>${reader.text('settings.toMapping')}</a></li>`}
    ${name !== undefined && html`<li><a href=${`/backfill/${name}`}>${reader.text('settings.toFill', { name: decodeURIComponent(name) })}</a></li>`}
    <li><a href=${next}>${reader.text('settings.back')}</a></li>
  </ul>`;
}

interface Door {
  readonly path: string;
  readonly text: Markup;
  readonly role: Role;
}

async function doorsPage({ crms, halves }: SettingsPageDeps, visit: Visit): Promise<PageBody> {
  const { reader } = visit;
  const admin = { role: 'admin' } as const;
  const connections = crms.map(({ name }) => ({
    title: name,
    doors: (['crm', 'number', 'mapping'] as const).map((step) => ({
      ...admin,
      path: `${SETTINGS}/${step}/${encodeURIComponent(name)}`,
      text: reader.text(`settings.${step}`),
    })),
  }));
  const viewer = { role: 'viewer' } as const;
  return {
    title: reader.text('nav.settings'),
    body: html`<p>${reader.text('settings.help')}</p>
      <ul class="cards">
        ${connections.map((each) => card(visit, each.title, each.doors))}
        ${
          halves.connector &&
          card(visit, reader.text('settings.connections'), [
            { ...admin, path: `${SETTINGS}/crm`, text: reader.text('settings.add') },
            { ...admin, path: `${SETTINGS}/source`, text: reader.text('settings.source') },
          ])
        }
        ${card(visit, reader.text('settings.configuration'), [
          { ...viewer, path: CONFIGURATION, text: reader.text('settings.accepted') },
          { ...admin, path: SETTINGS_CHANGES, text: reader.text('settings.changes') },
        ])}
        ${card(visit, reader.text('settings.alertsCard'), [{ ...admin, path: ALERTS_PAGE, text: reader.text('settings.alerts') }])}
        ${card(visit, reader.text('settings.people'), [
          { ...admin, path: OPERATORS, text: reader.text('operators.title') },
          { ...viewer, path: '/sessions', text: reader.text('nav.sessions') },
          ...(halves.service ? [{ ...viewer, path: '/keys', text: reader.text('nav.keys') }] : []),
        ])}
      </ul>
      <h2>${reader.text('settings.reading')}</h2>
      <p>${reader.text('settings.language')} ${reader.text('page.zone', { zone: reader.timeZone })}</p>
      ${includesRole(visit.visitor.role, 'admin') && html`<p><a href=${ZONE_PAGE}>${reader.text('zone.change')}</a></p>`}`,
  };
}

/** Links of one kind, without those that the role may not follow. */
function card({ visitor }: Visit, title: string, doors: readonly Door[]): Markup {
  const open = doors.filter(({ role }) => includesRole(visitor.role, role));
  return open.length > 0 && html`<li><h2>${title}</h2>${doorList(open)}</li>`;
}

const doorList = (doors: readonly Door[]): VNode =>
  html`<ul class="lines">${doors.map(({ path, text }) => html`<li><a href=${path}>${text}</a></li>`)}</ul>`;

/** The page of the accepted configuration: changes that wait, daemons with different files, and former versions. */
import type { VNode } from 'preact';
import { findProposals } from '../../connector/proposals/proposals.ts';
import type { Server } from '../../http/server/server.ts';
import { type ConfigDiff, differencesOf, rollbackConfig } from '../../operations/installation/configuration.ts';
import { maskedJson } from '../../protocol/text/mask.ts';
import { listVersions, readVersion, type VersionEntry } from '../../runtime/config-versions.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { CONFIGURATION } from '../addresses/addresses.ts';
import { type ProposalDeps, proposalSection } from '../connections/proposal.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { nameList, state, table, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import { addPage } from '../routes/routes.ts';
import type { Installation } from './installation.ts';

export interface ConfigurationDeps extends ProposalDeps {
  readonly installation: Pick<Installation, 'mask'>;
}

const PAGE = 20;

/** Adds the page, and the form that proposes a former version. */
export function addConfiguration(app: Server, deps: ConfigurationDeps): void {
  addPage(app, deps, { path: CONFIGURATION, show: (visit) => configurationPage(deps, visit) });
  addForm(app, deps, rollbackConfig, {
    path: `${CONFIGURATION}/rollback`,
    next: () => CONFIGURATION,
  });
}

async function configurationPage(deps: ConfigurationDeps, visit: Visit): Promise<PageBody> {
  const { store, configuration } = deps;
  const { reader, visitor, now } = visit;
  const differences = await differencesOf({ store, configuration, now });
  const proposals = await findProposals(store.db, configuration.rules());
  const sections: Markup[] = [];
  for (const { name } of proposals) sections.push(await proposalSection(deps, visit, name, 'configuration'));
  const before = Number(visit.query('before'));
  const page = { limit: PAGE + 1, ...(Number.isSafeInteger(before) && before > 0 && { before }) };
  const versions = await listVersions(store.db, page);
  return {
    title: reader.text('config.title'),
    body: html`<p>${reader.text('config.help')}</p>
      ${proposals.length === 0 ? html`<p>${state('ok', reader.text('config.nothing'))}</p>` : sections}
      ${differing(visit, differences)}
      <h2>${reader.text('config.versions')}</h2>
      ${versionTable(visit, versions.slice(0, PAGE), differences.version)}
      ${versions.length > PAGE && html`<p><a href=${`${CONFIGURATION}?before=${versions[PAGE - 1]?.id}`}>${reader.text('config.older')}</a></p>`}
      ${includesRole(visitor.role, 'operator') && (await contentOf(deps, visit))}`,
  };
}

/** Daemons whose files differ, and the changes of this daemon's file that nobody has accepted. */
function differing({ reader }: Visit, { daemons, settings }: Omit<ConfigDiff, 'proposals'>): Markup {
  if (daemons.length === 0 && settings.length === 0) return null;
  return html`<section class="notice warn">
    ${settings.length > 0 && html`<p>${reader.text('config.settings')} ${nameList(reader, settings)}</p>`}
    ${daemons.map(({ name, differs }) => html`<p>${reader.text('config.daemon', { name })} ${nameList(reader, differs)}</p>`)}
  </section>`;
}

function versionTable(visit: Visit, versions: readonly VersionEntry[], head: VersionEntry | undefined): VNode {
  const { reader, visitor, now } = visit;
  const isAdmin = includesRole(visitor.role, 'admin');
  const columns = ['version', 'accepted', 'by', 'digest', ...(isAdmin ? (['action'] as const) : [])] as const;
  return table({
    label: reader.text('config.versions'),
    columns: columns.map((column) => reader.text(`config.${column}`)),
    numeric: [0],
    rows: versions.map(({ id, acceptedAt, acceptedBy, digest }) => [
      reader.number(id),
      timeOf(reader, acceptedAt, now),
      acceptedBy,
      html`<code>${digest.slice(0, SHORT)}</code>`,
      ...(isAdmin ? [id === head?.id ? reader.text('config.inForce') : rollbackForm(visit, id)] : []),
    ]),
  });
}

const SHORT = 12;

const rollbackForm = ({ reader, formToken }: Visit, version: number): VNode =>
  html`<form method="post" action=${`${CONFIGURATION}/rollback`}>
    ${hidden({ [FORM_TOKEN]: formToken, version: String(version) })}
    <button>${reader.text('config.propose', { version })}</button>
  </form>`;

async function contentOf({ store, installation }: ConfigurationDeps, { reader }: Visit): Promise<Markup> {
  const version = await readVersion(store.db);
  if (version === undefined) return null;
  return html`<details>
    <summary>${reader.text('config.show')}</summary>
    <pre class="payload" tabindex="0">${maskedJson(version.content, installation.mask, 2)}</pre>
  </details>`;
}

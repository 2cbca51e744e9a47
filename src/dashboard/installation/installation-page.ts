/** The page of the installation: version, store, problems, and the configuration in force. */

import type { VNode } from 'preact';
import type { Server } from '../../http/server/server.ts';
import { maskedJson } from '../../protocol/text/mask.ts';
import { readDaemons } from '../../runtime/daemons.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { readGrowth } from '../../runtime/store-size.ts';
import { CONFIGURATION } from '../addresses/addresses.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { state, table, timeOf } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import { addBundle, type BundleDeps } from './bundle.ts';

/** How long the check waits for missing answers. */
const CHECK_MS = 3_000;

/** Adds the page, the full check, and the support bundle. */
export function addInstallation(app: Server, deps: BundleDeps): void {
  const { store, installation } = deps;
  addPage(app, deps, {
    path: '/installation',
    async show(visit) {
      return installationPage(deps, visit, await installation.quickFindings());
    },
  });
  addAction(app, deps, {
    path: '/installation',
    async run(visit) {
      const { visitor, now } = visit;
      const findings = await installation.allFindings(AbortSignal.timeout(CHECK_MS));
      const failed = findings.filter(({ level }) => level === 'fail').length;
      const entry = { actor: visitor.actor, via: 'page', action: 'installation.check' } as const;
      await store.write((tx) => recordAudit(tx, { ...entry, result: `${failed} to fix` }, now));
      return installationPage(deps, visit, findings);
    },
  });
  addBundle(app, deps);
}

async function installationPage(deps: BundleDeps, visit: Visit, findings: Findings): Promise<PageBody> {
  const { reader, visitor } = visit;
  const mayAct = includesRole(visitor.role, 'operator');
  return {
    title: reader.text('nav.installation'),
    body: html`${await facts(deps, visit)}
      <p><a href=${CONFIGURATION}>${reader.text('config.link')}</a></p>
      <h2>${reader.text('installation.findings')}</h2>
      ${findingTable(reader, findings)} ${mayAct && checkForm(visit)}
      ${
        mayAct &&
        html`<h2>${reader.text('installation.bundle')}</h2>
          <p>${reader.text('installation.bundleHelp')}</p>
          <p><a class="button" href="/installation/bundle.json" download>${reader.text('installation.download')}</a></p>
          <h2>${reader.text('installation.config')}</h2>
          <details>
            <summary>${reader.text('installation.configShow')}</summary>
            <pre class="payload" tabindex="0">${maskedJson(deps.installation.shownConfig(), deps.installation.mask, 2)}</pre>
          </details>`
      }`,
  };
}

async function facts({ store, installation }: BundleDeps, { reader, now }: Visit): Promise<VNode> {
  const bytes = await store.sizeBytes();
  const free = await store.freeBytes();
  const growth = await readGrowth(store.db, bytes, now);
  const daemons = await readDaemons(store.db, now);
  const fact = (label: string, value: Markup): Markup => html`<dt>${label}</dt><dd>${value}</dd>`;
  return html`<dl class="facts">
    ${fact(reader.text('installation.version'), `cvrsync ${installation.version}, Node ${process.versions.node}`)}
    ${fact(reader.text('installation.started'), timeOf(reader, installation.startedAt, now))}
    ${fact(reader.text('installation.daemons'), reader.number(daemons.length))}
    ${fact(reader.text('installation.store'), `${store.engine}, ${reader.bytes(bytes)}`)}
    ${
      growth &&
      fact(
        reader.text('installation.growth'),
        html`${reader.bytes(growth.bytes)} ${reader.text('overview.since')} ${timeOf(reader, growth.since)}`,
      )
    }
    ${free !== undefined && fact(reader.text('installation.free'), reader.bytes(free))}
  </dl>`;
}

const LEVEL_SIGNS = { ok: 'ok', info: 'idle', warn: 'warn', fail: 'bad' } as const;
const GRAVEST: readonly Finding['level'][] = ['fail', 'warn', 'info', 'ok'];

function findingTable(reader: Reader, findings: Findings): Markup {
  if (findings.length === 0) return html`<p>${state('ok', reader.text('installation.nothing'))}</p>`;
  const columns = ['level', 'subject', 'found', 'advice'] as const;
  return table({
    label: reader.text('installation.findings'),
    columns: columns.map((column) => reader.text(`finding.${column}`)),
    rows: findings
      .toSorted((a, b) => GRAVEST.indexOf(a.level) - GRAVEST.indexOf(b.level))
      .map(({ level, subject, found, advice }) => [
        state(LEVEL_SIGNS[level], reader.text(`level.${level}`)),
        html`<span lang="en">${subject}</span>`,
        html`<div class="wide">${said(reader, found)}</div>`,
        advice !== undefined && html`<div class="wide">${said(reader, advice)}</div>`,
      ]),
  });
}

const checkForm = ({
  reader,
  formToken,
}: Visit): VNode => html`<form method="post" action="/installation" class="actions">
  ${hidden({ [FORM_TOKEN]: formToken })}
  <button>${reader.text('installation.check')}</button>
  <span class="quiet">${reader.text('installation.checkHelp', { seconds: CHECK_MS / 1_000 })}</span>
</form>`;

/** The part of a connection's page about a changed configuration: what it would write, and the button that accepts it. */
import type { Crm } from '../../connector/crm/crm.ts';
import { type RulePreview, totalsOf } from '../../connector/proposals/preview.ts';
import { findProposal, previewProposal, type RuleProposal, readCounted } from '../../connector/proposals/proposals.ts';
import { acceptProposed } from '../../connector/rules/accepted.ts';
import type { NamedRules } from '../../connector/rules/rules.ts';
import type { Server } from '../../http/server/server.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Store } from '../../store/store.ts';
import { connectionAddress } from '../addresses/addresses.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden, messagePage, notFoundPage } from '../page/messages.ts';
import { brief, noDefaultAnswer, table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, type RouteDeps } from '../routes/routes.ts';

interface ProposalDeps extends RouteDeps {
  readonly configured: () => readonly NamedRules[];
}

/** Adds the action that accepts. */
export function addAcceptance(app: Server, deps: ProposalDeps): void {
  addAction(app, deps, {
    path: '/connections/:name/accept',
    role: 'admin',
    async run({ reader, visitor, now, param }, fields) {
      const proposed = deps.configured().find(({ name }) => name === param('name'));
      if (proposed === undefined) return notFoundPage(reader);
      const acceptance = { actor: visitor.actor, via: 'page', seen: fieldValue(fields, 'seen') } as const;
      const isAccepted = await deps.store.write((tx) => acceptProposed(tx, proposed, acceptance, now));
      if (isAccepted) return connectionAddress(proposed.name);
      const title = reader.text('error.invalid');
      return messagePage(reader, { status: 409, title, help: reader.text('rules.changed') });
    },
  });
}

/** What the file changes and nobody accepted yet; nothing if a daemon has not looked at it, or its file is an old one. */
export async function proposalSection({ store, configured }: ProposalDeps, visit: Visit, crm: Crm): Promise<Markup> {
  const { reader } = visit;
  const counted = await readCounted(store.db, crm.name);
  if (counted === undefined) return null;
  const proposed = configured().find(({ name }) => name === crm.name);
  const proposal = proposed && (await findProposal(store.db, proposed));
  if (proposal?.id !== counted.id) return html`<p class="notice warn">${reader.text('rules.otherFile')}</p>`;
  const preview = await withExamples(store, visit, { crm, proposal, counted: counted.preview });
  return html`<section class="notice warn" id="proposal">
    <h2>${reader.text('rules.title')}</h2>
    <p>${reader.text('rules.help')}</p>
    ${changes(visit, proposal)}
    ${preview === undefined ? html`<p>${reader.text('rules.uncounted')} ${said(reader, counted.trouble ?? null)}</p>` : figures(visit, crm, preview)}
    ${acceptForm(visit, proposal)}
  </section>`;
}

interface Shown {
  readonly crm: Crm;
  readonly proposal: RuleProposal;
  readonly counted: RulePreview | undefined;
}

/** The count with its examples as they are now; without them if the CRM does not answer in time. */
async function withExamples(
  store: Store,
  { visitor, now }: Visit,
  { crm, proposal, counted }: Shown,
): Promise<RulePreview | undefined> {
  if (counted === undefined) return undefined;
  const bare = { ...counted, examples: [] };
  if (!visitor.seesPersons || (await crm.rateLimiter.blockedUntil()) !== undefined) return bare;
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  const late = new Promise<RulePreview>((resolve) => signal.addEventListener('abort', () => resolve(bare)));
  const read = previewProposal({ store, now: () => now }, crm, proposal, signal);
  return Promise.race([late, read.catch(() => bare)]);
}

const changes = ({ reader }: Visit, proposal: RuleProposal): Markup =>
  table({
    label: reader.text('rules.changes'),
    columns: [reader.text('rules.setting'), reader.text('rules.accepted'), reader.text('rules.proposed')],
    rows: proposal.changes.map(({ subject, before, after }) => [
      html`<code>${subject}</code>`,
      before === undefined ? '–' : html`<code>${brief(before)}</code>`,
      after === undefined ? '–' : html`<code>${brief(after)}</code>`,
    ]),
  });

function figures({ reader }: Visit, crm: Crm, preview: RulePreview): Markup {
  const { writes, replaced, edits, later, isAbout } = totalsOf(preview);
  const columns = ['property', 'writes', 'replaced', 'edits', 'later'] as const;
  return html`<p><strong>${reader.text('rules.totals', { writes, replaced, edits })}</strong>
      ${later > 0 && html` ${reader.text('rules.totalLater', { count: later })}`}
      ${reader.text(isAbout ? 'rules.sample' : 'rules.read', { read: preview.read, linked: preview.linked })}</p>
    ${table({
      label: reader.text('rules.title'),
      columns: columns.map((column) => reader.text(`rules.${column}`)),
      numeric: [1, 2, 3, 4],
      rows: preview.properties.map((each) => [
        html`<code>${each.property}</code>`,
        ...[each.writes, each.replaced, each.edits, each.later].map((count) => reader.number(count)),
      ]),
    })}
    ${
      preview.examples.length > 0 &&
      table({
        label: reader.text('rules.examples'),
        columns: (['record', 'property', 'before', 'after', 'author'] as const).map((column) =>
          reader.text(`rules.${column}`),
        ),
        rows: preview.examples.map(({ record, entity, property, before, after, isEdit }) => [
          html`<a href=${`/companies/${encodeURIComponent(entity)}`}>${`${crm.name}:${record}`}</a>`,
          html`<code>${property}</code>`,
          brief(String(before ?? '–')),
          brief(String(after ?? '–')),
          isEdit && reader.text('rules.person'),
        ]),
      })
    }`;
}

const acceptForm = ({ reader, visitor, formToken }: Visit, { name, id }: RuleProposal): Markup =>
  includesRole(visitor.role, 'admin')
    ? html`<form method="post" action=${`${connectionAddress(name)}/accept`}>
        ${hidden({ [FORM_TOKEN]: formToken, seen: id })} ${noDefaultAnswer()}
        <button>${reader.text('rules.accept')}</button>
      </form>`
    : html`<p class="quiet">${reader.text('rules.adminOnly')}</p>`;

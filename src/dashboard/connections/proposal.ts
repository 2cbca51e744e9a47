/** The part of a connection's page about a changed configuration: what it would write, and the button that accepts it. */
import type { PropertyValue } from '../../../providers/provider.ts';
import { type RulePreview, totalsOf } from '../../connector/proposals/preview.ts';
import { findProposals, previewProposal, type RuleProposal, readCounted } from '../../connector/proposals/proposals.ts';
import type { Server } from '../../http/server/server.ts';
import { applyConfig, type ConfigNeeds } from '../../operations/installation/configuration.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import { CONFIGURATION, connectionAddress } from '../addresses/addresses.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden, messagePage } from '../page/messages.ts';
import { brief, noDefaultAnswer, table } from '../page/parts.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addForm } from '../routes/operation-form.ts';
import type { RouteDeps } from '../routes/routes.ts';

export interface ProposalDeps extends RouteDeps {
  readonly configuration: ConfigNeeds['configuration'];
}

export function addAcceptance(app: Server, deps: ProposalDeps): void {
  addForm(app, deps, applyConfig, {
    path: '/connections/:name/accept',
    input: ({ param }, fields) => ({
      provider: param('name'),
      ...(fieldValue(fields, 'seen') !== '' && { change: fieldValue(fields, 'seen') }),
    }),
    next: (_visit, { provider }, fields) =>
      fieldValue(fields, 'back') === '' ? connectionAddress(provider) : CONFIGURATION,
    refused: ({ reader }, { kind }) =>
      kind === 'conflict'
        ? messagePage(reader, { status: 409, title: reader.text('error.invalid'), help: reader.text('rules.changed') })
        : undefined,
  });
}

/** The changes of the file that nobody has accepted; nothing if no daemon has looked at it, or if its file is old. */
export async function proposalSection(
  deps: ProposalDeps,
  visit: Visit,
  name: string,
  back: Back = 'connection',
): Promise<Markup> {
  const { reader } = visit;
  const { store, configuration } = deps;
  const counted = await readCounted(store.db, name);
  const proposal = (await findProposals(store.db, configuration.rules())).find((one) => one.name === name);
  if (proposal?.isAside === true) return asideSection(visit, proposal, back);
  if (counted === undefined) return null;
  if (proposal?.id !== counted.id) return html`<p class="notice warn">${reader.text('rules.otherFile')}</p>`;
  const preview = await withExamples(deps, visit, proposal, counted.preview);
  return html`<section class="notice warn" id=${idOf(name, back)}>
    <h2>${proposal.version === undefined ? reader.text('rules.title') : reader.text('rules.rollback', { name, version: proposal.version })}</h2>
    <p>${proposal.after === undefined ? reader.text('rules.removal', { name, linked: preview?.linked ?? 0 }) : reader.text('rules.help')}</p>
    ${proposal.after !== undefined && changes(visit, proposal)}
    ${preview === undefined ? html`<p>${reader.text('rules.uncounted')} ${said(reader, counted.trouble ?? null)}</p>` : preview.removes !== true && figures(visit, name, preview)}
    ${acceptForm(visit, proposal, back)}
  </section>`;
}

type Back = 'connection' | 'configuration';

/** A page may show the proposals of all connections. */
const idOf = (name: string, back: Back): string => (back === 'connection' ? 'proposal' : `proposal-${name}`);

/** The changes that a rollback set aside. They need no answer. */
const asideSection = (visit: Visit, proposal: RuleProposal, back: Back): Markup =>
  html`<section class="notice" id=${idOf(proposal.name, back)}>
    <h2>${visit.reader.text('rules.aside', { name: proposal.name })}</h2>
    <p>${visit.reader.text('rules.asideHelp')}</p>
    ${changes(visit, proposal)} ${acceptForm(visit, proposal, back)}
  </section>`;

/** The count with current examples; without them if the CRM does not answer in time. */
async function withExamples(
  { store, configuration }: ProposalDeps,
  { visitor, now }: Visit,
  proposal: RuleProposal,
  counted: RulePreview | undefined,
): Promise<RulePreview | undefined> {
  if (counted === undefined || counted.examples.length === 0) return counted;
  const bare = { ...counted, examples: [] };
  if (!visitor.seesPersons) return bare;
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  const late = new Promise<RulePreview>((resolve) => signal.addEventListener('abort', () => resolve(bare)));
  const read = async (): Promise<RulePreview> => {
    const crm = await configuration.openCrm(proposal.name);
    if ((await crm.rateLimiter.blockedUntil()) !== undefined) return bare;
    return previewProposal({ store, now: () => now }, async () => crm, proposal, signal);
  };
  return Promise.race([late, read().catch(() => bare)]);
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

function figures({ reader }: Visit, name: string, preview: RulePreview): Markup {
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
          html`<a href=${`/companies/${encodeURIComponent(entity)}`}>${`${name}:${record}`}</a>`,
          html`<code>${property}</code>`,
          shownValue(reader, before),
          shownValue(reader, after),
          isEdit && reader.text('rules.person'),
        ]),
      })
    }`;
}

const shownValue = (reader: Reader, value: PropertyValue): Markup =>
  value === null || value === ''
    ? html`<span class="quiet">${reader.text('company.blank')}</span>`
    : brief(String(value));

const acceptForm = ({ reader, visitor, formToken }: Visit, { name, id }: RuleProposal, back: Back): Markup =>
  includesRole(visitor.role, 'admin')
    ? html`<form method="post" action=${`${connectionAddress(name)}/accept`}>
        ${hidden({ [FORM_TOKEN]: formToken, seen: id, ...(back === 'configuration' && { back }) })} ${noDefaultAnswer()}
        <button>${reader.text('rules.accept')}</button>
      </form>`
    : html`<p class="quiet">${reader.text('rules.adminOnly')}</p>`;

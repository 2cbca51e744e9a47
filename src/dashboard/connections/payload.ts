/** Tests a payload: what a webhook with this body would write into one CRM, by which rule. Changes nothing. */
import type { VNode } from 'preact';
import { ProviderError } from '../../../providers/provider.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import { type Remark, remarksOn } from '../../connector/decide/remarks.ts';
import { readFacts } from '../../connector/facts/facts.ts';
import { type Preview, preview, readEventBody } from '../../connector/replay.ts';
import type { Server } from '../../http/server/server.ts';
import { type Payload, readPayload, type WireOptions } from '../../protocol/payload.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { readJson } from '../../protocol/text/json.ts';
import { includesRole } from '../../runtime/operators/operators.ts';
import type { Db } from '../../store/store.ts';
import { PAYLOAD_FORM } from '../access/forms.ts';
import { companyAddress, connectionAddress } from '../addresses/addresses.ts';
import { CRM_LIMIT_MS } from '../companies/company-deps.ts';
import { outlook } from '../companies/values/outlook.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import { table } from '../page/parts.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, type RouteDeps } from '../routes/routes.ts';

interface TrialDeps extends RouteDeps, WireOptions {
  readonly crms: readonly Crm[];
}

export function addPayloadTrial(app: Server, deps: TrialDeps): void {
  addAction(app, deps, {
    path: '/connections/:name/payload',
    form: PAYLOAD_FORM,
    async run(visit, fields) {
      const crm = deps.crms.find(({ name }) => name === visit.param('name'));
      if (crm === undefined) return notFoundPage(visit.reader);
      const text = fieldValue(fields, 'payload');
      const read = readText(text, deps);
      if (!read.ok)
        return trialPage(
          visit,
          crm,
          text,
          html`<p class="notice bad" role="alert">${said(visit.reader, read.reason)}</p>`,
        );
      const { payload } = read;
      const known = new Map((await readFacts(deps.store.db, [payload.entityId])).map((fact) => [fact.field, fact]));
      const tried = await previewInTime(deps, crm, payload);
      const remarks = remarksOn(payload, known, visit.now);
      return trialPage(
        visit,
        crm,
        text,
        html`<div role="status">${outcome(visit, crm, payload, tried)} ${remarkTable(visit, remarks)}</div>`,
      );
    },
  });
}

/** The body of the event that an address names, for people to edit and test; empty if it names none. */
export async function eventIn(db: Db, { query, visitor }: Visit): Promise<string> {
  if (!/^\d{1,15}$/.test(query('event')) || !visitor.seesPersons) return '';
  const body = await readEventBody(db, Number(query('event')));
  return body === undefined ? '' : JSON.stringify(JSON.parse(body), null, 2);
}

/** The form; nothing for those who may not use it. */
export function payloadForm({ reader, visitor, formToken }: Visit, crm: Crm, text = ''): Markup {
  return (
    includesRole(visitor.role, 'operator') &&
    html`<form method="post" action=${`${connectionAddress(crm.name)}/payload`}>
      ${hidden({ [FORM_TOKEN]: formToken })}
      <label for="payload">${reader.text('payload.label')}</label>
      <textarea id="payload" name="payload" rows="10" required spellcheck="false" aria-describedby="payload-help">${text}</textarea>
      <p class="quiet" id="payload-help">${reader.text('payload.help')}</p>
      <button>${reader.text('payload.try')}</button>
    </form>`
  );
}

const trialPage = (visit: Visit, crm: Crm, text: string, result: Markup): PageBody => ({
  title: visit.reader.text('payload.title', { connection: crm.name }),
  body: html`${result} ${payloadForm(visit, crm, text)}
    <p><a href=${connectionAddress(crm.name)}>${crm.name}</a></p>`,
});

type ReadText = { readonly ok: true; readonly payload: Payload } | { readonly ok: false; readonly reason: string };

function readText(text: string, wire: WireOptions): ReadText {
  const json = readJson(Buffer.from(text));
  if (!json.ok) return json;
  const result = readPayload(json.value, wire);
  return result.ok
    ? { ok: true, payload: result.payload }
    : { ok: false, reason: result.errors.map(({ path, message }) => `${path} ${message}`).join('; ') };
}

type Trial = { readonly decided: readonly Preview[] } | { readonly silent: string };

/** Reports a missing answer in time, even if the provider ignores the signal. */
async function previewInTime({ store, now }: TrialDeps, crm: Crm, payload: Payload): Promise<Trial> {
  const signal = AbortSignal.timeout(CRM_LIMIT_MS);
  const silent = `no answer within ${CRM_LIMIT_MS / 1_000} s`;
  const late = new Promise<Trial>((resolve) => {
    signal.addEventListener('abort', () => resolve({ silent }));
  });
  const trying = preview({ store, now, crms: [crm] }, payload, signal).then(
    (decided): Trial => ({ decided }),
    (error: unknown): Trial => {
      if (signal.aborted) return { silent };
      if (error instanceof ProviderError) return { silent: errorText(error) };
      throw error;
    },
  );
  return Promise.race([late, trying]);
}

/** What each linked record would get. */
function outcome({ reader, visitor }: Visit, crm: Crm, { entityId }: Payload, tried: Trial): VNode {
  if ('silent' in tried)
    return html`<p class="notice warn">${reader.text('company.silent', { provider: crm.name, reason: tried.silent })}</p>`;
  const company = html`<a href=${companyAddress(entityId)}><code>${entityId}</code></a>`;
  if (tried.decided.length === 0) return html`<p class="notice">${company} ${reader.text('payload.nothing')}</p>`;
  return html`<p>${company} ${reader.text('payload.unchanged')}</p>
    ${tried.decided.map(({ provider, id, current }) => {
      const shown = outlook({ ...visitor, reader }, { provider, recordId: id, current });
      return html`<h2>${provider} <code>${id}</code></h2>
        ${shown.table}`;
    })}`;
}

/** The parts of the payload that are not written, and why. */
function remarkTable({ reader }: Visit, remarks: readonly Remark[]): Markup {
  return (
    remarks.length > 0 &&
    html`<h2>${reader.text('payload.remarks')}</h2>
      ${table({
        label: reader.text('payload.remarks'),
        columns: [reader.text('payload.entry'), reader.text('payload.why')],
        rows: remarks.map(({ entry, kind, detail }) => [
          html`<code>${entry}</code>`,
          html`<code>${kind}</code>: ${said(reader, detail)}`,
        ]),
      })}`
  );
}

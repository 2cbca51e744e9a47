/** The page that imports an edited plan file. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlanError } from '../../connector/backfill/plan/import-plan.ts';
import { type PlanUploadResult, takesFile, uploadPlan } from '../../connector/backfill/plan/upload-plan.ts';
import { isScanning, planRevision, readRun } from '../../connector/backfill/rows/progress.ts';
import type { Crm } from '../../connector/crm/crm.ts';
import type { Server } from '../../http/server/server.ts';
import { FILE_FORM, MOST_MB } from '../access/forms.ts';
import { FORM_TOKEN, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden, notFoundPage } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage } from '../routes/routes.ts';
import { type BackfillPageDeps, backfillAddress, crmOf } from './filter.ts';

export function addPlanUpload(app: Server, deps: BackfillPageDeps): void {
  const path = '/backfill/:name/upload';
  addPage(app, deps, {
    path,
    role: 'operator',
    async show(visit) {
      const crm = crmOf(deps, visit);
      return crm && uploadPage(deps, visit, crm);
    },
  });
  addAction(app, deps, {
    path,
    form: FILE_FORM,
    async run(visit, fields, file) {
      const crm = crmOf(deps, visit);
      if (crm === undefined) return notFoundPage(visit.reader);
      if (file === undefined) return refused(deps, visit, crm, { why: visit.reader.text('upload.none') });
      return upload(deps, visit, crm, { file, revision: fieldValue(fields, 'revision') });
    },
  });
}

async function upload(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { file, revision }: { readonly file: Buffer; readonly revision: string },
): Promise<string | PageBody> {
  const { reader, visitor } = visit;
  // The command's reader needs a path: it reads a file twice, row by row.
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-plan-'));
  try {
    const path = join(folder, 'plan.csv');
    await writeFile(path, file, { mode: 0o600 });
    const asked = { file: path, revision, actor: visitor.actor, via: 'page' } as const;
    const result: PlanUploadResult = await uploadPlan({ ...deps, crm }, asked, new AbortController().signal);
    return result.kind === 'taken'
      ? backfillAddress(crm.name)
      : refused(deps, visit, crm, { why: reader.text(`upload.${result.kind}`), status: 409 });
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const { count, problems } = error;
    const lines = problems.map(
      ({ line, problem }) => html`<li>${reader.text('upload.line', { line })}: ${said(reader, problem)}</li>`,
    );
    const why = html`${reader.text('upload.problems', { count })}
      <ul>
        ${lines}
      </ul>`;
    return refused(deps, visit, crm, { why });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says why nothing was changed, and asks again. */
async function refused(
  deps: BackfillPageDeps,
  visit: Visit,
  crm: Crm,
  { why, status = 422 }: { readonly why: Markup; readonly status?: 409 | 422 },
): Promise<PageBody> {
  const page = await uploadPage(deps, visit, crm);
  return { ...page, status, body: html`<div class="notice bad" role="alert">${why}</div>${page.body}` };
}

async function uploadPage({ store }: BackfillPageDeps, { reader, formToken }: Visit, { name }: Crm): Promise<PageBody> {
  const run = await readRun(store.db, name);
  const back = html`<a href=${backfillAddress(name)}>${reader.text('backfill.toPlan')}</a>`;
  if (run === undefined || !takesFile(run)) {
    const why = reader.text(run === undefined || isScanning(run.phase) ? 'upload.noPlan' : 'upload.busy');
    return { title: reader.text('upload.title'), body: html`<p>${why}</p><p>${back}</p>` };
  }
  return {
    title: reader.text('upload.title'),
    body: html`<form
      method="post"
      action=${backfillAddress(name, '/upload')}
      enctype="multipart/form-data"
      class="narrow form"
    >
      ${hidden({ [FORM_TOKEN]: formToken, revision: planRevision(run) })}
      <p>${reader.text('upload.help')}</p>
      <label for="file">${reader.text('upload.file', { most: MOST_MB })}</label>
      <input id="file" name="file" type="file" accept=".csv,text/csv" required />
      <p class="actions"><button class="primary">${reader.text('upload.submit')}</button> ${back}</p>
    </form>`,
  };
}

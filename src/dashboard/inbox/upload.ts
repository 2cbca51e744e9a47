/** The page that imports review with answers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAnswerFile } from '../../connector/review/import-answers.ts';
import type { Server } from '../../http/server/server.ts';
import { importAnswers } from '../../operations/connector/review.ts';
import { perform } from '../../operations/definition/operation.ts';
import { FILE_FORM, MOST_MB } from '../access/forms.ts';
import { runAddress } from '../addresses/addresses.ts';
import { FORM_TOKEN } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { PageBody } from '../page/layout.ts';
import { hidden } from '../page/messages.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { addAction, addPage, type RouteDeps } from '../routes/routes.ts';

const PATH = '/inbox/upload';

export function addReviewUpload(app: Server, deps: RouteDeps): void {
  addPage(app, deps, { path: PATH, role: 'operator', show: async (visit) => uploadPage(visit) });
  addAction(app, deps, {
    path: PATH,
    form: FILE_FORM,
    run: async (visit, _fields, file) =>
      file === undefined ? refused(visit, visit.reader.text('upload.none')) : upload(deps, visit, file),
  });
}

async function upload(deps: RouteDeps, visit: Visit, content: Buffer): Promise<string | PageBody> {
  const { reader, visitor, now } = visit;
  // The reader needs a path: it reads the file row by row, as that of a plan.
  const folder = await mkdtemp(join(tmpdir(), 'cvrsync-review-'));
  try {
    const file = join(folder, 'review.csv');
    await writeFile(file, content, { mode: 0o600 });
    const result = await readAnswerFile(file);
    if (result.kind === 'read') {
      const answers = result.rows.map(({ verb: answer, ...row }) => ({ ...row, answer }));
      const by = { actor: visitor.actor, via: 'page' } as const;
      return runAddress((await perform(importAnswers, { answers }, { ...deps, now: () => now }, by)).id);
    }
    if (result.kind === 'empty') return refused(visit, reader.text('answers.noneInFile'));
    const lines = result.problems.map(
      ({ line, problem }) => html`<li>${reader.text('upload.line', { line })}: ${said(reader, problem)}</li>`,
    );
    return refused(
      visit,
      html`${reader.text('upload.problems', { count: result.count })}
        <ul>
          ${lines}
        </ul>`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Says why nothing was changed, and asks again. */
function refused(visit: Visit, why: Markup): PageBody {
  const page = uploadPage(visit);
  return { ...page, status: 422, body: html`<div class="notice bad" role="alert">${why}</div>${page.body}` };
}

const uploadPage = ({ reader, formToken }: Visit): PageBody => ({
  title: reader.text('answers.upload'),
  body: html`<form method="post" action=${PATH} enctype="multipart/form-data" class="narrow form">
    ${hidden({ [FORM_TOKEN]: formToken })}
    <p>${reader.text('answers.uploadHelp')}</p>
    <label for="file">${reader.text('answers.file', { most: MOST_MB })}</label>
    <input id="file" name="file" type="file" accept=".csv,text/csv" required />
    <p class="actions">
      <button class="primary">${reader.text('upload.submit')}</button> <a href="/inbox">${reader.text('review.back')}</a>
    </p>
  </form>`,
});

/** The endpoints of single companies and of their list, in an emulated account. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from './account.ts';
import { render } from './render.ts';
import { invalidValues } from './validate.ts';

const MAX_PAGE = 100;

/** An id that was merged away returns the survivor, under the survivor's id. */
export function getOne(account: HubspotAccount, id: string, url: URL): EmulatorAnswer {
  const isArchived = url.searchParams.get('archived') === 'true';
  const company = isArchived ? account.companies.archived(id) : account.companies.follow(id);
  if (company === undefined) return refusal(account, 404, 'OBJECT_NOT_FOUND', 'resource not found');
  const shown = render(company, asked(url));
  account.read([company.id]);
  return { status: 200, body: shown };
}

/** One page of the list; of the deleted companies with `archived=true`. */
export function list(account: HubspotAccount, url: URL): EmulatorAnswer {
  const limit = Number(url.searchParams.get('limit') ?? 10);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    return refusal(account, 400, 'VALIDATION_ERROR', `limit must be between 1 and ${MAX_PAGE}`);
  const from = Number(url.searchParams.get('after') ?? 0);
  if (!Number.isInteger(from) || from < 0)
    return refusal(account, 400, 'VALIDATION_ERROR', 'the paging cursor is not valid');
  const { companies, next } = account.companies.page(from, limit, url.searchParams.get('archived') === 'true');
  const properties = asked(url);
  const paging = next === undefined ? {} : { paging: { next: { after: String(next) } } };
  return { status: 200, body: { results: companies.map((company) => render(company, properties)), ...paging } };
}

/** Creates a company; HubSpot does not look for one of the same name or domain. */
export function create(account: HubspotAccount, body: Record<string, unknown>, version: string): EmulatorAnswer {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(typeof body.properties === 'object' ? { ...body.properties } : {})) {
    if (typeof value !== 'string')
      return refusal(account, 400, 'VALIDATION_ERROR', `Invalid input JSON: the value of "${name}" is no string`);
    texts[name] = value;
  }
  if ((texts.name ?? '') === '' && (texts.domain ?? '') === '')
    return refusal(account, 400, 'VALIDATION_ERROR', 'A company needs a name or a domain');
  const faults = invalidValues(account, undefined, texts, version);
  if (faults.length > 0) {
    return refusal(account, 400, 'VALIDATION_ERROR', `Property values were not valid: ${JSON.stringify(faults)}`);
  }
  const company = account.create(texts);
  account.written(company.id, Object.keys(texts));
  return { status: 201, body: render(company, Object.keys(texts)) };
}

const asked = (url: URL): string[] => url.searchParams.getAll('properties').flatMap((names) => names.split(','));

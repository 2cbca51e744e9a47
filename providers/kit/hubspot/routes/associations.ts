/** The endpoints of associations of companies with companies and notes, in an emulated account. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from '../account/account.ts';
import { CHILD_TO_PARENT, childrenIn, LABEL_NAMES, UNLABELLED } from '../account/associations.ts';

const MAX_PAGE = 500;
const MAX_INPUTS = 1_000;
const COMPANY_TO_NOTE = 189;

interface Linked {
  /** A number here, a text in most places. */
  readonly toObjectId: number;
  readonly associationTypes: readonly {
    readonly category: string;
    readonly typeId: number;
    readonly label: string | null;
  }[];
}

/** One page of a company's links; an id that was merged away, or never existed, has none. */
export function listAssociations(account: HubspotAccount, id: string, to: string, url: URL): EmulatorAnswer {
  const limit = Number(url.searchParams.get('limit') ?? MAX_PAGE);
  const from = Number(url.searchParams.get('after') ?? 0);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE || !Number.isInteger(from))
    return refusal(account, 400, 'VALIDATION_ERROR', `limit must be between 1 and ${MAX_PAGE}`);
  const all = to === 'notes' ? noteLinks(account, id) : companyLinks(account, id);
  const paging = from + limit < all.length ? { paging: { next: { after: String(from + limit) } } } : {};
  return { status: 200, body: { results: all.slice(from, from + limit), ...paging } };
}

/** The links of many companies to companies; those without any are errors. */
export function readAssociations(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const ids = inputsOf(body).map(({ id }) => String(id));
  if (ids.length === 0 || ids.length > MAX_INPUTS)
    return refusal(account, 400, 'VALIDATION_ERROR', `inputs must be between 1 and ${MAX_INPUTS}`);
  const found = ids.map((id) => ({ from: { id }, to: companyLinks(account, id) }));
  const results = found.filter(({ to }) => to.length > 0);
  const errors = found
    .filter(({ to }) => to.length === 0)
    .map(({ from: { id } }) => ({
      status: 'error',
      category: 'OBJECT_NOT_FOUND',
      subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
      message: `No company is associated with company ${id}.`,
      context: { fromObjectId: [id], fromObjectType: ['company'], toObjectType: ['company'] },
    }));
  const faults = errors.length === 0 ? {} : { numErrors: errors.length, errors };
  const at = new Date(account.now()).toISOString();
  return {
    status: errors.length === 0 ? 200 : (account.options.batchStatus ?? 207),
    body: { status: 'COMPLETE', results: account.shuffle(results), ...faults, startedAt: at, completedAt: at },
  };
}

/** Gives a pair of companies exactly these labels; refuses a second parent and a circle of parents. */
export function putAssociation(account: HubspotAccount, from: string, to: string, body: unknown): EmulatorAnswer {
  const { companies, associations } = account;
  if (companies.find(from) === undefined || companies.find(to) === undefined)
    return refusal(account, 404, 'OBJECT_NOT_FOUND', `One of the companies ${from} and ${to} does not exist`);
  if (!Array.isArray(body)) return refusal(account, 400, 'VALIDATION_ERROR', 'Invalid input JSON: a list was expected');
  const specs = inputsOf({ inputs: body });
  const labels = specs.map(({ associationTypeId }) => Number(associationTypeId));
  const unknown = specs.find(
    ({ associationCategory, associationTypeId }) =>
      categoryOf(account, Number(associationTypeId)) !== associationCategory,
  );
  if (unknown !== undefined)
    return refusal(account, 400, 'VALIDATION_ERROR', `No association type ${JSON.stringify(unknown)}`);
  for (const [child, parent] of childrenIn(from, to, labels)) {
    const old = associations.parent(child);
    if (old !== undefined && old !== parent)
      return refusal(account, 400, 'VALIDATION_ERROR', `company ${child} already has the parent company ${old}`);
    for (let above: string | undefined = parent; above !== undefined; above = associations.parent(above))
      if (above === child)
        return refusal(account, 400, 'VALIDATION_ERROR', `company ${child} would be its own ancestor`);
  }
  associations.put(from, to, labels);
  const body201 = {
    fromObjectTypeId: '0-2',
    fromObjectId: Number(from),
    toObjectTypeId: '0-2',
    toObjectId: Number(to),
  };
  return { status: 201, body: { ...body201, labels: labels.map((label) => labelOf(account, label)).filter(Boolean) } };
}

/** Removes labels from pairs; a missing label is not an error. Version 4 answers without a body, dated ones with one. */
export function archiveLabels(account: HubspotAccount, body: Record<string, unknown>, version: string): EmulatorAnswer {
  for (const { from, to, types } of inputsOf(body)) {
    const labels = inputsOf({ inputs: types }).map(({ associationTypeId }) => Number(associationTypeId));
    account.associations.remove(idOf(from), idOf(to), labels);
  }
  return version === 'v4' ? { status: 204 } : { status: 200, body: { status: 'COMPLETE', results: [] } };
}

function companyLinks(account: HubspotAccount, id: string): readonly Linked[] {
  if (account.companies.find(id) === undefined) return [];
  return [...account.associations.of(id)]
    .filter(([to, labels]) => labels.size > 0 && account.companies.find(to) !== undefined)
    .map(([to, labels]) => ({
      toObjectId: Number(to),
      associationTypes: [...labels].map((typeId) => ({
        category: categoryOf(account, typeId) ?? 'HUBSPOT_DEFINED',
        typeId,
        label: labelOf(account, typeId),
      })),
    }));
}

function noteLinks(account: HubspotAccount, id: string): readonly Linked[] {
  if (account.companies.find(id) === undefined) return [];
  const associationTypes = [{ category: 'HUBSPOT_DEFINED', typeId: COMPANY_TO_NOTE, label: null }];
  return account.notes.on(id).map((note) => ({ toObjectId: Number(note.id), associationTypes }));
}

function categoryOf(account: HubspotAccount, typeId: number): string | undefined {
  if (LABEL_NAMES[typeId] !== undefined || typeId === UNLABELLED) return 'HUBSPOT_DEFINED';
  return account.options.labels?.[typeId] === undefined ? undefined : 'USER_DEFINED';
}

const labelOf = (account: HubspotAccount, typeId: number): string | null =>
  LABEL_NAMES[typeId] ?? account.options.labels?.[typeId] ?? null;

/** The parent, if it is alive. */
export function parentOf(account: HubspotAccount, id: string): string | null {
  const link = companyLinks(account, id).find(({ associationTypes }) =>
    associationTypes.some(({ typeId }) => typeId === CHILD_TO_PARENT),
  );
  return link === undefined ? null : String(link.toObjectId);
}

const inputsOf = (body: Record<string, unknown>): readonly Record<string, unknown>[] =>
  Array.isArray(body.inputs)
    ? body.inputs.flatMap((item) => (typeof item === 'object' && item !== null ? [{ ...item }] : []))
    : [];

const idOf = (json: unknown): string =>
  typeof json === 'object' && json !== null && 'id' in json ? String(json.id) : '';

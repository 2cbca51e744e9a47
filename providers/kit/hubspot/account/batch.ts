/** `batch/read` and `batch/update` of an emulated account, strict and shuffled. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';
import { type HubspotAccount, refusal } from './account.ts';
import type { EmulatedCompany } from './records.ts';
import { render } from './render.ts';
import { invalidValues } from './validate.ts';

const MAX_INPUTS = 100;
const MAX_INPUTS_WITH_HISTORY = 50;

interface BatchError {
  readonly status: 'error';
  readonly category: string;
  readonly message: string;
  readonly context: Readonly<Record<string, readonly string[]>>;
}

interface Input {
  readonly id: string;
  readonly idProperty: string | undefined;
  readonly traceId: string | undefined;
  readonly texts: Readonly<Record<string, string>>;
}

/** Answers `batch/read`; missing records are in `errors` or simply absent. */
export function batchRead(account: HubspotAccount, body: Record<string, unknown>): EmulatorAnswer {
  const inputs = readInputs(account, body);
  if (!Array.isArray(inputs)) return inputs;
  const idProperty = typeof body.idProperty === 'string' ? body.idProperty : undefined;
  const listed = (names: unknown) => (Array.isArray(names) ? names.map(String) : []);
  const [properties, withHistory] = [listed(body.properties), listed(body.propertiesWithHistory)];
  if (withHistory.length > 0 && inputs.length > MAX_INPUTS_WITH_HISTORY) {
    const message = `The maximum number of inputs supported in a batch request for property histories is ${MAX_INPUTS_WITH_HISTORY}. Please reduce the number of items and try again`;
    return refusal(account, 400, 'VALIDATION_ERROR', message);
  }
  const found: EmulatedCompany[] = [];
  const misses: string[] = [];
  for (const { id } of inputs) {
    const company = lookUp(account, id, idProperty);
    if (company === undefined) misses.push(id);
    else if (!found.includes(company)) found.push(company);
  }
  const named = account.options.readMisses !== 'absent' && misses.length > 0;
  const shown = found.map((company) => render(company, properties, withHistory));
  account.read(found.map((company) => company.id));
  return answer(account, shown, named ? [notFound(misses)] : []);
}

/** Answers `batch/update`: partial success only if every input has a distinct trace id. */
export function batchUpdate(account: HubspotAccount, body: Record<string, unknown>, version: string): EmulatorAnswer {
  const inputs = readInputs(account, body);
  if (!Array.isArray(inputs)) return inputs;
  account.arrived(inputs.map((input) => input.id));
  const traced = new Set(inputs.map((input) => input.traceId));
  const partial = account.options.batchRefusals !== 'whole' && !traced.has(undefined) && traced.size === inputs.length;
  const errors: BatchError[] = [];
  const writes: { readonly company: EmulatedCompany; readonly input: Input }[] = [];
  for (const input of inputs) {
    const company = lookUp(account, input.id, input.idProperty);
    if (company === undefined) {
      errors.push(notFound([input.id]));
      continue;
    }
    const faults = invalidValues(account, company, input.texts, version);
    if (faults.length === 0) writes.push({ company, input });
    else {
      const message = `Property values were not valid: ${JSON.stringify(faults)}`;
      if (!partial) return refusal(account, 400, 'VALIDATION_ERROR', message);
      errors.push({
        status: 'error',
        category: 'VALIDATION_ERROR',
        message,
        context: { objectWriteTraceId: [input.traceId ?? ''] },
      });
    }
  }
  for (const { company, input } of writes) account.write(company, input.texts);
  const results = writes.map(({ company, input }) => {
    const trace = input.traceId === undefined ? {} : { objectWriteTraceId: input.traceId };
    return { ...render(company, Object.keys(input.texts)), ...trace };
  });
  for (const { company, input } of writes) account.written(company.id, Object.keys(input.texts));
  return answer(account, results, errors);
}

function readInputs(account: HubspotAccount, body: Record<string, unknown>): Input[] | EmulatorAnswer {
  const refuse = (message: string) => refusal(account, 400, 'VALIDATION_ERROR', message);
  if (!Array.isArray(body.inputs))
    return refuse('Invalid input JSON on line 1, column 1: Some required fields were not set: [inputs]');
  if (body.inputs.length > MAX_INPUTS) {
    return refuse(
      `The maximum number of inputs supported in a batch request for object type 0-2 is ${MAX_INPUTS}, but received ${body.inputs.length}`,
    );
  }
  const inputs: Input[] = [];
  for (const json of body.inputs) {
    const input = readInput(typeof json === 'object' && json !== null ? { ...json } : {});
    if (typeof input === 'string') return refuse(input);
    inputs.push(input);
  }
  const idProperties = [body.idProperty, ...inputs.map((input) => input.idProperty)];
  const bad = idProperties.find(
    (name) => typeof name === 'string' && account.definitions.get(name)?.hasUniqueValue !== true,
  );
  if (bad !== undefined) return refuse(`Unable to perform update/upsert by non-unique 0-2 property ${String(bad)}`);
  const ids = inputs.map((input) => input.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length > 0) return refuse(`Duplicate IDs found in batch input: [${twice.join(', ')}]. IDs must be unique`);
  return inputs;
}

function readInput(json: Record<string, unknown>): Input | string {
  if (typeof json.id !== 'string')
    return 'Invalid input JSON on line 1, column 12: Some required fields were not set: [id]';
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(typeof json.properties === 'object' ? { ...json.properties } : {})) {
    if (typeof value !== 'string')
      return `Invalid input JSON on line 1, column 30: Cannot build Map, key "${name}" has a value that is no string`;
    texts[name] = value;
  }
  const idProperty = typeof json.idProperty === 'string' ? json.idProperty : undefined;
  const traceId = typeof json.objectWriteTraceId === 'string' ? json.objectWriteTraceId : undefined;
  return { id: json.id, idProperty, traceId, texts };
}

function lookUp(
  { companies, options }: HubspotAccount,
  id: string,
  idProperty: string | undefined,
): EmulatedCompany | undefined {
  if (idProperty !== undefined) return companies.holder(idProperty, id);
  return options.mergedInBatch === 'survivor' ? companies.follow(id) : companies.find(id);
}

const notFound = (ids: readonly string[]): BatchError => ({
  status: 'error',
  category: 'OBJECT_NOT_FOUND',
  message: 'Could not get some COMPANY objects, they may be deleted or not exist. Check that ids are valid.',
  context: { ids },
});

function answer(account: HubspotAccount, results: readonly object[], errors: readonly BatchError[]): EmulatorAnswer {
  const at = new Date(account.now()).toISOString();
  const faults = errors.length === 0 ? {} : { numErrors: errors.length, errors };
  const body = {
    status: 'COMPLETE',
    results: account.shuffle([...results]),
    ...faults,
    startedAt: at,
    completedAt: at,
  };
  return { status: errors.length === 0 ? 200 : (account.options.batchStatus ?? 207), body };
}

/** Reads HubSpot's error bodies: every member may be absent, and property faults hide as JSON in the message. */

export interface PropertyFault {
  readonly name: string;
  readonly reason: string;
  readonly code: string | undefined;
}

export interface HubspotErrorBody {
  readonly message: string;
  readonly category: string;
  readonly policyName: string | undefined;
  readonly correlationId: string | undefined;
  readonly context: Readonly<Record<string, readonly string[]>>;
  readonly properties: readonly PropertyFault[];
}

/** Faults that do not depend on the value: every record with the property has them. */
export const VALUE_FREE_CODES: ReadonlySet<string> = new Set(['PROPERTY_DOESNT_EXIST', 'READ_ONLY_VALUE']);

/** Reads the text of an answer; HTML and broken JSON give empty members. */
export function parseErrorBody(text: string): HubspotErrorBody {
  try {
    return readErrorBody(JSON.parse(text));
  } catch {
    return readErrorBody(undefined);
  }
}

export function readErrorBody(json: unknown): HubspotErrorBody {
  const body = record(json);
  const details = Array.isArray(body.errors) ? body.errors.map(record) : [];
  const message = string(body.message) ?? '';
  const context = { ...contexts(body.context) };
  for (const detail of details) {
    for (const [key, values] of Object.entries(contexts(detail.context)))
      context[key] = [...(context[key] ?? []), ...values];
  }
  const inMessage = faultsInMessage(message);
  return {
    message,
    category: string(body.category) ?? '',
    policyName: string(body.policyName),
    correlationId: string(body.correlationId),
    context,
    properties: inMessage.length > 0 ? inMessage : details.flatMap(faultOfDetail),
  };
}

/** `Property values were not valid: [{"isValid":false,"message":"..","error":"INVALID_OPTION","name":"industry"}]` */
function faultsInMessage(message: string): PropertyFault[] {
  const start = message.indexOf('[');
  const end = message.lastIndexOf(']');
  if (start < 0 || end < start) return [];
  try {
    const list: unknown = JSON.parse(message.slice(start, end + 1));
    return Array.isArray(list)
      ? list.map(record).flatMap((entry) => fault(string(entry.name), entry, string(entry.error)))
      : [];
  } catch {
    return [];
  }
}

function faultOfDetail(detail: Record<string, unknown>): PropertyFault[] {
  const context = contexts(detail.context);
  const name = context.propertyName?.[0] ?? context.property?.[0] ?? string(detail.in);
  return fault(name, detail, string(detail.code) ?? string(detail.subCategory));
}

const fault = (name: string | undefined, entry: Record<string, unknown>, code: string | undefined): PropertyFault[] =>
  name === undefined ? [] : [{ name, reason: string(entry.message) ?? code ?? 'refused', code }];

const contexts = (json: unknown): Record<string, readonly string[]> =>
  Object.fromEntries(
    Object.entries(record(json)).map(([key, value]) => [
      key,
      (Array.isArray(value) ? value : [value]).map((v) => String(v)),
    ]),
  );

const record = (json: unknown): Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? Object.fromEntries(Object.entries(json)) : {};

const string = (json: unknown): string | undefined => (typeof json === 'string' && json !== '' ? json : undefined);

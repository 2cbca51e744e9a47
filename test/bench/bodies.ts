/** Webhook bodies of about 2 kB, each another event, cheap to make. */
import { payloadOf, writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../src/protocol/sample/company.ts';
import type { Change } from '../../src/service/changes/change.ts';

/** Which companies events are about: `first`, `first + step`, … and from the start again after `count`. */
export interface Companies {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

const ENTITY = 'CVR-1-10000000';
const TIME = '2026-01-01T00:00:00.000Z';
const PHONE = '10000000';
const START = Date.UTC(2026, 0, 1);

const { address, purpose } = fullStatePayload(sampleCompany(7), TIME).updates;
/** What changes beside the phone number. */
const ELSE = { ...(address !== undefined && { address }), ...(purpose !== undefined && { purpose }) };

const TEMPLATE = JSON.stringify(template()).split(new RegExp(`${ENTITY}|${TIME}|${PHONE}`, 'u'));

/** The entity id of the event at this place. */
export const entityAt = ({ first, step, count }: Companies, at: number): string =>
  `CVR-1-${first + step * (at % count)}`;

/** The phone number that the event at this place brings. */
const phoneAt = (at: number): string => String(10_000_001 + (at % 9_000_000));

/** The body of the event at this place: its time and its phone number differ from all others'. */
export function bodyAt(companies: Companies, at: number): Buffer {
  const [head = '', entity = '', time = '', phone = ''] = TEMPLATE;
  const stamp = new Date(START + at * 10).toISOString();
  return Buffer.from(`${head}${entityAt(companies, at)}${entity}${stamp}${time}${phoneAt(at)}${phone}`);
}

/** The event at this place as a change that the service tells of: its body is as large. */
export function changeAt(companies: Companies, at: number): Change {
  const timestamp = new Date(START + at * 10).toISOString();
  const entity = entityAt(companies, at);
  const updates = { ...ELSE, phoneNumber: { before: null, after: phoneAt(at) } };
  return { id: `bench ${entity} ${timestamp}`, entity, name: 'Bench ApS', kind: 'register', timestamp, updates };
}

/** Every other event is named as not updated, as the service does. */
function template(): object {
  return writePayload(payloadOf(ENTITY, TIME, { ...ELSE, phoneNumber: { before: null, after: PHONE } }));
}

/** A company as HubSpot's JSON shows it. */
import { textOf } from './account.ts';
import type { Company } from './records.ts';

const ALWAYS = ['createdate', 'hs_lastmodifieddate', 'hs_object_id'];
const UNASKED = ['domain', 'name'];

/** The properties asked for, the three that always come, blanks as null; unknown names come back as null too. */
export function render(
  company: Company,
  properties: readonly string[],
  shown: Company['properties'] = company.properties,
): object {
  const names = new Set([...(properties.length === 0 ? UNASKED : properties), ...ALWAYS]);
  const subject = { ...company, properties: shown };
  return {
    id: company.id,
    properties: Object.fromEntries([...names].map((name) => [name, textOf(subject, name)])),
    createdAt: new Date(company.createdAt).toISOString(),
    updatedAt: new Date(company.updatedAt).toISOString(),
    archived: false,
  };
}

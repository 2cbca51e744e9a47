/** A company as HubSpot's JSON shows it. */
import { textOf } from './account.ts';
import type { EmulatedCompany } from './records.ts';

const ALWAYS = ['createdate', 'hs_lastmodifieddate', 'hs_object_id'];
const UNASKED = ['domain', 'name'];

/** The properties asked for, the three that always come, blanks as null; unknown names come back as null too. */
export function render(company: EmulatedCompany, properties: readonly string[]): object {
  const names = new Set([...(properties.length === 0 ? UNASKED : properties), ...ALWAYS]);
  const { archivedAt } = company;
  return {
    id: company.id,
    properties: Object.fromEntries([...names].map((name) => [name, textOf(company, name)])),
    createdAt: new Date(company.createdAt).toISOString(),
    updatedAt: new Date(company.updatedAt).toISOString(),
    archived: archivedAt !== undefined,
    ...(archivedAt === undefined ? {} : { archivedAt: new Date(archivedAt).toISOString() }),
  };
}

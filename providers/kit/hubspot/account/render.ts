/** A company as HubSpot's JSON shows it. */
import { textOf } from './account.ts';
import type { EmulatedCompany } from './records.ts';

const ALWAYS = ['createdate', 'hs_lastmodifieddate', 'hs_object_id'];
const UNASKED = ['domain', 'name'];

/** The requested properties and the three that always come; blanks and unknown names are null. */
export function render(
  company: EmulatedCompany,
  properties: readonly string[],
  withHistory: readonly string[] = [],
): object {
  const names = new Set([...(properties.length === 0 ? UNASKED : properties), ...ALWAYS]);
  const { archivedAt } = company;
  return {
    id: company.id,
    properties: Object.fromEntries([...names].map((name) => [name, textOf(company, name)])),
    createdAt: new Date(company.createdAt).toISOString(),
    updatedAt: new Date(company.updatedAt).toISOString(),
    archived: archivedAt !== undefined,
    ...(withHistory.length === 0 ? {} : { propertiesWithHistory: historyOf(company, withHistory) }),
    ...(archivedAt === undefined ? {} : { archivedAt: new Date(archivedAt).toISOString() }),
  };
}

/** The versions of each property, newest first; a property that never had a value is absent. */
function historyOf(company: EmulatedCompany, names: readonly string[]): object {
  const versionsOf = (name: string) => {
    const written = company.versions.filter(({ property }) => property === name);
    if (written.length > 0) return written;
    const text = company.properties[name];
    return text === undefined ? [] : [{ text, at: company.createdAt, source: company.source }];
  };
  const shown = names.map((name) => {
    const versions = versionsOf(name).toReversed();
    return [
      name,
      versions.map(({ text, at, source }) => ({ value: text, timestamp: new Date(at).toISOString(), ...source })),
    ] as const;
  });
  return Object.fromEntries(shown.filter(([, versions]) => versions.length > 0));
}

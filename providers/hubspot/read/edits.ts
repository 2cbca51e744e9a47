/** Who changed properties of companies, and when: HubSpot's property history. */
import { type PropertyEdit, ProviderError } from '../../provider.ts';
import { isRecordId } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import type { HubspotAuthors, HubspotVersion } from './authors.ts';
import type { ToValues } from './schema.ts';

/** "The maximum number of inputs supported in a batch request for property histories is 50." */
const IDS_IN_A_CALL = 50;

interface EditsAsked {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Ms since 1970, by HubSpot's clock. */
  readonly since: number;
}

/** Makes one call for 50 companies; the token's app and the users' names may cost a few more, once an hour. */
export async function readEdits(
  apis: Apis,
  { ids, names, since }: EditsAsked,
  toValues: ToValues,
  authors: HubspotAuthors,
): Promise<readonly PropertyEdit[]> {
  const asked = [...new Set(ids.filter(isRecordId))];
  const kept: { readonly id: string; readonly property: string; readonly version: HubspotVersion }[] = [];
  for (let at = 0; at < asked.length; at += IDS_IN_A_CALL) {
    const inputs = asked.slice(at, at + IDS_IN_A_CALL).map((id) => ({ id }));
    const { results } = await apis.batch.read({ inputs, properties: [], propertiesWithHistory: [...names] });
    if (results.some((result) => typeof result?.id !== 'string'))
      throw new ProviderError('unavailable', 'HubSpot answered a property history with a company that has no id');
    for (const { id, propertiesWithHistory } of results)
      for (const property of names)
        for (const version of versionsFrom(propertiesWithHistory?.[property], since))
          kept.push({ id, property, version });
  }
  const authorOf = await authors.read(
    apis,
    kept.map(({ version }) => version),
  );
  return kept
    .map(({ id, property, version }): PropertyEdit => {
      const value = toValues({ [property]: version.value })[property] ?? null;
      return { id, property, value, at: version.timestamp.getTime(), ...authorOf(version) };
    })
    .sort((a, b) => a.at - b.at);
}

/** The versions since a time, and the one current at that time, oldest first; HubSpot lists the newest first. */
function versionsFrom(versions: readonly HubspotVersion[] | undefined, since: number): readonly HubspotVersion[] {
  if (!Array.isArray(versions)) return [];
  const timed = versions.filter(({ timestamp }) => Number.isFinite(timestamp?.getTime()));
  const ordered = timed.toReversed().sort((a, b) => a.timestamp.getTime() - b.timestamp.getTime());
  const first = ordered.findLastIndex(({ timestamp }) => timestamp.getTime() <= since);
  return ordered.slice(Math.max(0, first));
}

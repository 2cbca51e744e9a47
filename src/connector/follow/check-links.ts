/** Findings about links that no longer follow the configuration. */
import { sql } from 'kysely';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import type { CrmConfig } from '../crm/crm.ts';
import { otherMatch } from './match-property.ts';

type MatchConfig = Pick<CrmConfig, 'name' | 'match'>;

export async function checkLinks(db: Db, providers: readonly MatchConfig[]): Promise<Findings> {
  const ofOthers = await Promise.all(providers.map((provider) => matchFinding(db, provider)));
  return [...(await unconfiguredLinks(db, providers)), ...ofOthers.flat()];
}

async function unconfiguredLinks(db: Db, providers: readonly MatchConfig[]): Promise<Findings> {
  const names = providers.map(({ name }) => name);
  const rows = await db
    .selectFrom('link')
    .select(['provider', sql<number>`cast(count(*) as bigint)`.as('count')])
    .where('desired', '=', 'on')
    .where('provider', 'not in', each(db, names))
    .groupBy('provider')
    .orderBy('provider')
    .execute();
  return rows.map(
    ({ provider, count }): Finding => ({
      level: 'warn',
      subject: `${provider} links`,
      found: `${provider} is not configured, and has ${count} links: their companies are still monitored, and no record is updated`,
      advice: `was it renamed? Give it back the name ${provider} under connector.providers`,
    }),
  );
}

async function matchFinding(db: Db, { name, match }: MatchConfig): Promise<Findings> {
  const before = match === undefined ? undefined : await otherMatch(db, name, match);
  if (before === undefined) return [];
  return [
    {
      level: 'warn',
      subject: `${name} match`,
      found: `links were made by ${before}, and do not follow ${match}`,
      advice: `put ${before} back, or run cvrsync backfill ${name} (--dry-run first): links follow ${match} from then on`,
    },
  ];
}

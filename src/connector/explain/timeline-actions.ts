/** What people and programs did by hand with a company or its records, as the audit keeps it. */
import { parseEntityId } from '../../protocol/entity-id.ts';
import { type AuditRow, readAuditOf, type SubjectRange } from '../../runtime/operators/audit.ts';
import type { Db } from '../../store/open.ts';
import { idOf } from '../review/attention-kinds.ts';
import { RECORD_QUEUES } from './timeline-lanes.ts';
import type { TimelineLink } from './timeline-links.ts';

/** An entry of the audit. */
export type TimelineAction = Pick<AuditRow, 'at' | 'actor' | 'via' | 'action' | 'subject' | 'result'>;

/** The newest of them. */
export async function readActions(
  db: Db,
  { entity, links }: { readonly entity: string; readonly links: readonly TimelineLink[] },
  { limit, until }: { readonly limit: number; readonly until?: number | undefined },
): Promise<readonly TimelineAction[]> {
  const rows = await readAuditOf(db, subjectsOf(entity, links), { limit, until });
  return rows.map(({ at, actor, via, action, subject, result }) => ({ at, actor, via, action, subject, result }));
}

/** What they may have been recorded for: commands by their arguments, answers by the id in review. */
function subjectsOf(entity: string, links: readonly TimelineLink[]): readonly SubjectRange[] {
  const names = [entity, parseEntityId(entity)?.number ?? entity];
  const connections = [...new Set(links.map(({ provider }) => provider))];
  return [
    ...names.map((name) => ({ is: name, before: ' ' })),
    ...connections.flatMap((provider) => names.map((name) => ({ is: `${provider} ${name}`, before: ' ' }))),
    ...links.flatMap(({ provider, record }) => [
      { is: `${provider}:${record}`, before: ' ' },
      ...(['difference', 'value', 'link', 'match'] as const).map((kind) => ({
        is: idOf(kind, provider, record),
        before: '/',
      })),
      ...RECORD_QUEUES.map((queue) => ({
        is: idOf('lane', `${queue}:${provider}`, record),
        before: '/',
      })),
    ]),
  ];
}

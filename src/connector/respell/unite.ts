/** unite: what becomes of the link of a record that was stored under two spellings of its id. Pure. */
import type { Link } from '../links/links.ts';

/**
 * `link` the one link that the record has from now on; `later` where the link under the canonical id has ended for another
 * company, and the monitoring service has not confirmed that yet: until then it cannot be replaced.
 */
export type United = { readonly kind: 'link'; readonly link: Link } | { readonly kind: 'later' };

const counts = ({ state }: Link): boolean => state === 'active' || state === 'conflict';

/** Unites the link under another spelling with the one under the canonical id, if there is one. Never picks a company. */
export function uniteLinks(old: Link, same: Link | undefined, recordId: string, now: number): United {
  if (same === undefined) return whole(renamed(old, recordId, now));
  if (!counts(old)) return whole(same);
  if (counts(same)) return whole(same.entity === old.entity ? joined(old, same, now) : contested(old, same, now));
  if (same.entity === old.entity)
    return whole(
      same.state === 'removed' && same.origin === 'person' ? revived(old, same, now) : renamed(old, recordId, now),
    );
  return same.observed === 'off' || same.observed === 'refused'
    ? whole(renamed(old, recordId, now))
    : { kind: 'later' };
}

const whole = (link: Link): United => ({ kind: 'link', link });

/** The service knows the record by the other spelling: under this one it is asked for anew. */
const renamed = (old: Link, recordId: string, now: number): Link => ({
  ...old,
  record_id: recordId,
  observed: old.desired === 'on' ? 'unknown' : 'off',
  observed_at: null,
  observed_error: null,
  updated_at: now,
});

/** Both stand for one company: what either holds back stays held back. */
function joined(old: Link, same: Link, now: number): Link {
  const doubtful = [same, old].find(({ state }) => state === 'conflict');
  const desired = same.desired === 'on' || old.desired === 'on' ? 'on' : 'off';
  return {
    ...same,
    state: doubtful === undefined ? 'active' : 'conflict',
    reason: doubtful?.reason ?? null,
    mismatch: doubtful === undefined ? (same.mismatch ?? old.mismatch) : doubtful.mismatch,
    origin: old.origin === 'person' ? 'person' : same.origin,
    trust: old.trust === 'crm' ? 'crm' : same.trust,
    desired,
    observed: desired === same.desired ? same.observed : 'unknown',
    send_update: Math.max(same.send_update, old.send_update),
    synced_seq: Math.min(same.synced_seq, old.synced_seq),
    updated_at: now,
  };
}

/** Each spelling stood for another company. */
function contested(old: Link, same: Link, now: number): Link {
  const { provider, record_id: id, entity } = same;
  const both = `two spellings of this record's id stood for two companies: ${id} for ${entity}, ${old.record_id} for ${old.entity}`;
  const advice = `keep ${entity}, or drop it and then run cvrsync monitoring add ${provider} ${old.entity} ${id} --send-update`;
  return { ...same, state: 'conflict', reason: `${both}: ${advice}`, mismatch: null, updated_at: now };
}

/** A person ended it under one spelling, and under the other it went on. */
function revived(old: Link, same: Link, now: number): Link {
  const link = renamed(old, same.record_id, now);
  const reason = `a person removed this link as ${same.record_id}, and it went on as ${old.record_id}, which is the same record`;
  return { ...link, state: 'conflict', reason, mismatch: null };
}

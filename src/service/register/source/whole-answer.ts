import { isJsonObject } from '../../../protocol/text/json.ts';

/**
 * Why an Elasticsearch answer may lack documents; undefined if it is provably complete. Only `successful` equal to
 * `total` proves it: a shard that no node holds counts as neither successful nor failed, and a shard that was skipped
 * because it cannot match counts as successful.
 */
export function whyPartial(answer: unknown): string | undefined {
  const { timed_out, terminated_early, _shards: shards } = isJsonObject(answer) ? answer : {};
  if (timed_out === true) return 'ran out of time and answered with a part';
  if (terminated_early === true) return 'ended its search early and answered with a part';
  const { total, successful } = isJsonObject(shards) ? shards : {};
  if (typeof total !== 'number' || typeof successful !== 'number')
    return 'does not say whether all of its parts answered';
  return successful === total ? undefined : `answered from ${successful} of its ${total} parts`;
}

import type { OutboundHttp } from '../../http/outbound/client.ts';
import { retryAfterMs } from '../../http/outbound/retry-after.ts';
import { isJsonObject } from '../../protocol/text/json.ts';
import { withoutSlash } from '../../protocol/text/trim.ts';
import { SourceError } from '../register/source/source.ts';
import { whyPartial } from '../register/source/whole-answer.ts';
import { type Filing, type NoFiling, readFiling } from './filings.ts';

export interface IndexOptions {
  readonly http: OutboundHttp;
  readonly indexUrl: string;
  readonly now: () => number;
  readonly pageSize?: number;
}

/** A record of the index, as sent and parsed. */
export interface FoundFiling {
  readonly hit: unknown;
  readonly filing: Filing | NoFiling;
}

export interface IndexPage {
  /** Oldest change first, whatever the order of the answer. */
  readonly found: readonly FoundFiling[];
  /** Where the next page begins; undefined on the last page. */
  readonly after: readonly unknown[] | undefined;
}

const PAGE_SIZE = 200;
const TIMEOUT_MS = 60_000;
/** The longest wait that the index can ask for. */
const LONGEST_WAIT_MS = 3_600_000;
const SOURCE = [
  ...['cvrNummer', 'regnskab', 'offentliggoerelsesTidspunkt', 'sidstOpdateret', 'indlaesningsTidspunkt'],
  ...['offentliggoerelsestype', 'omgoerelse', 'dokumenter'],
];

/**
 * The filings that the index changed at or after `from`. Throws {@link SourceError} if the index cannot be read now.
 * Pages use `search_after`, because `from` and `size` end at 3,000. `search_after` does not distinguish two filings
 * of one company in the same millisecond, so the next page requests those at the end of a full page again.
 */
export async function readIndex(
  options: IndexOptions,
  from: string,
  after: readonly unknown[] | undefined,
  signal: AbortSignal,
): Promise<IndexPage> {
  const size = options.pageSize ?? PAGE_SIZE;
  const query = {
    size,
    sort: [{ sidstOpdateret: 'asc' }, { cvrNummer: 'asc' }],
    query: {
      bool: {
        // Not `term`, which finds nothing in an analysed field.
        must: [{ match: { offentliggoerelsestype: 'regnskab' } }],
        filter: [{ range: { sidstOpdateret: { gte: from } } }],
      },
    },
    _source: SOURCE,
    ...(after !== undefined && { search_after: after }),
  };
  const hits = hitsIn(await ask(options, query, signal));
  const found = hits.map((hit) => ({ hit, filing: readFiling(hit) })).sort(byTime);
  if (hits.length < size) return { found, after: undefined };
  const whole = withoutTorn(found);
  return { found: whole, after: sortOf(whole.at(-1)) };
}

const timeOf = ({ filing }: FoundFiling): string => ('updatedAt' in filing ? filing.updatedAt : '');
const byTime = (a: FoundFiling, b: FoundFiling): number => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0);

async function ask({ http, indexUrl, now }: IndexOptions, query: object, signal: AbortSignal): Promise<unknown> {
  const url = `${withoutSlash(indexUrl)}/_search`;
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'gzip' };
  const answer = await http({
    method: 'POST',
    url,
    headers,
    body: JSON.stringify(query),
    signal,
    timeoutMs: TIMEOUT_MS,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new SourceError(cause instanceof Error ? cause.message : 'the filing index cannot be reached', { cause });
  });
  if (answer.status !== 200) {
    const asked = retryAfterMs(answer.headers['retry-after'], now());
    const wait = asked === undefined ? {} : { retryAfterMs: Math.min(asked, LONGEST_WAIT_MS) };
    throw new SourceError(`the filing index answered with ${answer.status}: check service.reports.indexUrl`, wait);
  }
  try {
    return JSON.parse(answer.body);
  } catch (cause) {
    throw new SourceError('the filing index answered with something that is not JSON', { cause });
  }
}

function hitsIn(json: unknown): readonly unknown[] {
  const hits = isJsonObject(json) && isJsonObject(json['hits']) ? json['hits']['hits'] : undefined;
  if (!Array.isArray(hits)) throw new SourceError('the filing index answered with something that is no search result');
  const why = whyPartial(json);
  if (why !== undefined) throw new SourceError(`the filing index ${why}`);
  return hits;
}

function withoutTorn(found: readonly FoundFiling[]): readonly FoundFiling[] {
  const last = JSON.stringify(sortOf(found.at(-1)));
  const whole = found.filter((one) => JSON.stringify(sortOf(one)) !== last);
  return whole.length > 0 ? whole : found;
}

/** The sort values of a record, as the index gives them or made in the same way. */
function sortOf(found: FoundFiling | undefined): readonly unknown[] | undefined {
  const sort = isJsonObject(found?.hit) ? found.hit['sort'] : undefined;
  if (Array.isArray(sort)) return sort;
  const { filing } = found ?? {};
  return filing !== undefined && 'cvr' in filing ? [Date.parse(filing.updatedAt), String(filing.cvr)] : undefined;
}

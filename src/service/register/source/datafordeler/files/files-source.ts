/** A source that loads everything from Datafordeler's weekly files first, and then reads the feed. */
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import type { RegisterSource } from '../../source.ts';
import { openAccess } from '../feed/access.ts';
import { type DafClientOptions, openDafClient } from '../feed/client.ts';
import type { FeedCursor } from '../feed/cursor.ts';
import { EVENTS_QUERY } from '../feed/queries.ts';
import { essential, readWaterMark, timeIn } from '../feed/read-events.ts';
import { pageIn } from '../feed/read-rows.ts';
import { openFileAccess } from './download.ts';
import { eventBefore, withFirstLoad } from './first-load.ts';

export interface FilesOptions extends DafClientOptions {
  readonly filesUrl: string;
  /** The folder for the files. */
  readonly files: string;
  readonly pageSize?: number;
}

/** Events to read, because a number may be missing. */
const WINDOW = 50;

export function createFilesSource(feed: RegisterSource, options: FilesOptions): RegisterSource {
  const { http, now, files: folder, filesUrl, pageSize } = options;
  const access = openAccess(options, { http, now });
  const client = openDafClient(options);

  async function timeOf(event: number, signal: AbortSignal): Promise<number | undefined> {
    const where = { eventid: { gt: event - 1, lte: event + WINDOW - 1 } };
    const question = { root: 'CVR_Events', query: EVENTS_QUERY, variables: { where, after: null } };
    const answer = await essential(client, question, signal);
    const { nodes } = pageIn(answer, 'CVR_Events');
    const times = nodes.filter(isJsonObject).flatMap((node) => timeIn(node['datafordelerOpdateringstid']) ?? []);
    return times.length === 0 ? undefined : Date.parse(times.sort()[0] ?? '');
  }

  const source = withFirstLoad(feed, {
    ...{ folder, now },
    ...(pageSize !== undefined && { pageSize }),
    access: openFileAccess(filesUrl, { http, sign: access.sign }),
    async feedFrom(time, signal) {
      const mark = await readWaterMark(client, signal);
      const event = await eventBefore(time, mark, (number) => timeOf(number, signal));
      return JSON.stringify({ event, loadedAt: time, askedAt: now(), more: true } satisfies FeedCursor);
    },
  });
  return {
    ...source,
    async close() {
      await access.close();
      await client.close();
      await feed.close?.();
    },
  };
}

/** The position of a connection in HubSpot's changes: a text that the runtime stores between two calls. */

/** The walk over the records edited since `from`, by search. All times in ms since 1970 on HubSpot's clock. */
export interface ChangesCursor {
  /** The newest change seen, or a time before which there was none. The next walk begins a while before it. */
  readonly mark: number;
  /** Set during a walk: the next page begins with changes of this time. */
  readonly from?: number | undefined;
  /** Set if more records than fit a page changed in that millisecond: the next page has those with greater ids. */
  readonly tie?: string | undefined;
  readonly archive: ArchiveCursor;
}

/** The walk over the deleted records, which HubSpot lists in no order. */
export interface ArchiveCursor {
  /** The walk reports records deleted since then. */
  readonly since: number;
  /** When the next walk is due, on our clock. */
  readonly dueAt: number;
  readonly after?: string | undefined;
  /** When the current walk began: the next one reports deletions since then. */
  readonly startedAt?: number | undefined;
}

const DAY_MS = 86_400_000;

/** Begins at a time of HubSpot's clock; the first walk over deleted records is due at `dueAt`. */
export const beginAt = (mark: number, dueAt: number): ChangesCursor => ({ mark, archive: { since: mark, dueAt } });

export const writeCursor = (cursor: ChangesCursor): string => JSON.stringify(cursor);

/** A text of unknown shape begins a day back, because a change reported twice does no harm. */
export function readCursor(text: string, now: number): ChangesCursor {
  const json = parse(text);
  const archive = record(json.archive);
  const mark = time(json.mark);
  const since = time(archive.since);
  const dueAt = time(archive.dueAt);
  if (mark === undefined || since === undefined || dueAt === undefined) return beginAt(now - DAY_MS, now);
  return {
    mark,
    from: time(json.from),
    tie: string(json.tie),
    archive: { since, dueAt, after: string(archive.after), startedAt: time(archive.startedAt) },
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    return record(JSON.parse(text));
  } catch {
    return {};
  }
}

const record = (json: unknown): Record<string, unknown> =>
  typeof json === 'object' && json !== null ? Object.fromEntries(Object.entries(json)) : {};

const time = (json: unknown): number | undefined =>
  typeof json === 'number' && Number.isFinite(json) ? json : undefined;

const string = (json: unknown): string | undefined => (typeof json === 'string' ? json : undefined);

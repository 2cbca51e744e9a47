/**
 * A source that reads the company register at Datafordeler, the state's distributor of data: the feed of changes, and
 * for each change the rows of the unit. It covers half of the families (see families.ts).
 */
import type { RegisterSource, SourcePage } from '../../source.ts';
import { type ComposedDocument, compose } from '../compose.ts';
import { DATAFORDELER_FAMILIES, familiesWithout } from '../families.ts';
import { cvrIn, type DafEntity, dayIn, ENTITIES, isCompany, standing, type UnitRows, unitIdOf } from '../rows.ts';
import { type DafClientOptions, openDafClient } from './client.ts';
import { type FeedCursor, readCursor, type SilentEntity } from './cursor.ts';
import { awaitRows, laggingUnits, silentAfter, withoutBehind, withoutLagging } from './lag.ts';
import { lateNow, lateTrouble, withLate } from './late-units.ts';
import { MOST_ROWS } from './queries.ts';
import { laterTime, readEvents, readWaterMark, timeIn, type UnitEvents } from './read-events.ts';
import { createRowReader, type RowReader } from './read-rows.ts';
import { readUnits } from './read-units.ts';
import { createUnitsReader, type UnitsReader, withUnknownUnits } from './serves-units.ts';
import { companiesByNumber, ownerOf, type Wanted, wantedUnits } from './wanted-units.ts';

export interface DatafordelerOptions extends DafClientOptions {
  /** Events per page; 1,000 by default, which is the maximum. */
  readonly pageSize?: number;
  /** The number after which the first page begins; by default the newest event, so that only later changes count. */
  readonly firstEvent?: number;
  readonly wanted: Wanted;
}

/** Connects at the first page. */
export function createDatafordelerSource(options: DatafordelerOptions): RegisterSource {
  const { now, wanted, pageSize = MOST_ROWS } = options;
  const client = openDafClient(options);
  const rows = createUnitsReader(createRowReader(client, now));

  async function pageAfter(cursor: FeedCursor, mark: number, signal: AbortSignal): Promise<SourcePage> {
    const { event: after, isCut: wasCut = false, gap } = cursor;
    const place = { after, mark, size: Math.min(pageSize, MOST_ROWS), isCut: wasCut, ...(gap && { gap }) };
    const { units, upTo, isCut, loadedAt, missing } = await readEvents(client, place, { now: now(), signal });
    const { documents, lagging, again, late, silent } = await documentsFor(units, cursor, {
      rows,
      wanted,
      now: now(),
      signal,
    });
    const waits = missing !== undefined && upTo === after;
    const more = upTo < mark && !waits;
    const next: FeedCursor = {
      event: upTo,
      loadedAt: loadedAt === null ? cursor.loadedAt : Math.max(cursor.loadedAt, Date.parse(loadedAt)),
      askedAt: now(),
      more,
      isCut,
      ...{ late, silent },
      ...(missing?.isFollowed && {
        gap: { number: missing.number, since: gap?.number === missing.number ? gap.since : now() },
      }),
    };
    const waiting = waits ? [`event ${missing.number} of the feed is missing: waiting for it`] : [];
    const trouble = troubleOf([...waiting, ...lateTrouble(late), ...unknownNow(rows, lagging)]);
    return { documents, cursor: JSON.stringify(next), more, again, ...trouble };
  }

  return {
    name: 'datafordeler',
    origin: 'datafordeler',
    families: DATAFORDELER_FAMILIES,
    async page(text, signal): Promise<SourcePage> {
      signal.throwIfAborted();
      const mark = await readWaterMark(client, signal);
      const known = readCursor(text);
      const cursor = known ?? { event: options.firstEvent ?? mark, loadedAt: 0, askedAt: 0, more: false };
      if (mark > cursor.event) return pageAfter(cursor, mark, signal);
      const back =
        mark < cursor.event
          ? [`its events ended at ${cursor.event}, and now end at ${mark}: waiting for them to go on`]
          : [];
      const { gap: _, ...rest } = cursor;
      const next: FeedCursor = { ...rest, askedAt: now(), more: false };
      const trouble = troubleOf([...back, ...unknownNow(rows)]);
      return { documents: [], cursor: JSON.stringify(next), more: false, ...trouble };
    },
    find: (numbers, signal, cursor) => findCompanies(rows, numbers, signal, readCursor(cursor)?.silent),
    parts(text) {
      const cursor = readCursor(text);
      if (cursor === undefined) return {};
      const { loadedAt, askedAt, more } = cursor;
      const walked = more && loadedAt > 0 && { walkedTo: loadedAt };
      return { changes: { readAt: askedAt, loadedUntil: loadedAt, more, ...walked } };
    },
    async probe(signal) {
      await readWaterMark(client, signal);
      for (const entity of ENTITIES) await rows.read(entity, keyOf(entity), [NOBODY[keyOf(entity)]], signal);
      return unknownNow(rows);
    },
    close: () => client.close(),
  };
}

interface Reading {
  readonly rows: UnitsReader;
  readonly wanted: Wanted;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** The documents of a window and of the earlier late units, and the entities that are still behind. */
async function documentsFor(
  ofWindow: readonly UnitEvents[],
  { late: known = [], silent = [] }: Pick<FeedCursor, 'late' | 'silent'>,
  { rows, wanted, now, signal }: Reading,
) {
  const events = withLate(ofWindow, known);
  const toRead = await wantedUnits(events, { read: rows.read, wanted, now, signal });
  const read = await readUnits(rows, toRead, signal);
  const byId = new Map(events.map((each, place) => [each.id, { each, place }]));
  const found = [...read]
    .sort(([a], [b]) => (byId.get(a)?.place ?? events.length) - (byId.get(b)?.place ?? events.length))
    .map(([id, each]) => ({ events: byId.get(id)?.each, rows: each }));
  awaitRows(found, now);
  const { units, lagging } = withoutLagging(found);
  const silentNow = silentAfter(silent, found, now);
  const late = lateNow(toRead.unserved, known, now);
  const isUnserved = late.length > 0 || silentNow.some(({ entity }) => entity === 'Produktionsenhed');
  const served = units.map((each) => ({ ...each, rows: isUnserved ? withUnknownUnits(each.rows) : each.rows }));
  const documents = served.flatMap((each) => documentOf(each.rows, each.events?.loadedAt ?? null));
  // A refused entity is missing in all units.
  const behind = rows.refused().size > 0 ? found : laggingUnits(found);
  return { documents, lagging, again: entitiesOf(behind), late, silent: silentNow };
}

/** The usual key of an entity, and a unit that does not exist. */
const keyOf = (entity: DafEntity) => {
  if (entity === 'Telefaxnummer') return 'datafordelerRowId';
  return UNIT_ENTITIES.has(entity) ? 'id' : 'CVREnhedsId';
};
const UNIT_ENTITIES: ReadonlySet<DafEntity> = new Set<DafEntity>(['CVREnhed', 'Virksomhed', 'Produktionsenhed']);
const NOBODY = { CVREnhedsId: '0', id: '0', datafordelerRowId: '00000000-0000-4000-8000-000000000000' };

const troubleOf = (reasons: readonly string[]): { readonly trouble?: string } =>
  reasons.length === 0 ? {} : { trouble: reasons.join('; ') };

/** The families that are unknown now, each with the reason. */
function unknownNow({ refused }: RowReader, lagging: ReadonlySet<DafEntity> = new Set()): readonly string[] {
  const why = new Map(refused());
  for (const entity of lagging) why.set(entity, `CVR_${entity} lacks rows that the feed announced`);
  if (why.size === 0) return [];
  const families = familiesWithout(why.keys());
  return [`${[...why.values()].join(', ')}: unknown are ${families.join(', ') || 'details'}`];
}

/** The company of the rows, or the companies of the production unit. */
const companiesOf = ({ CVREnhed = [], Produktionsenhed = [] }: UnitRows): readonly string[] => {
  const own = CVREnhed.filter(isCompany).flatMap((row) => cvrIn(row['forretningsnoegle']) ?? []);
  return own.length > 0 ? own : Produktionsenhed.flatMap(ownerOf);
};

const entitiesOf = (units: readonly { readonly rows: UnitRows }[]): readonly string[] =>
  [...new Set(units.flatMap(({ rows }) => companiesOf(rows)))].map((cvr) => `CVR-1-${cvr}`);

/** The document of a unit, if it has one. */
function documentOf(rows: UnitRows, eventAt: string | null): readonly ComposedDocument[] {
  const document = compose(rows, loadedAtOf(rows, eventAt));
  return document === undefined ? [] : [document];
}

/** When Datafordeler loaded the newest row or event: rows that are read late make the document as new as they are. */
function loadedAtOf({ partners: _, partnerNames: __, ...rows }: UnitRows, eventAt: string | null): string | null {
  let latest = eventAt;
  for (const list of Object.values(rows))
    for (const row of list ?? []) latest = laterTime(latest, timeIn(row['datafordelerOpdateringstid']));
  return latest;
}

/** Companies by number, each with its current production units. */
async function findCompanies(
  rows: UnitsReader,
  numbers: readonly string[],
  signal: AbortSignal,
  silent: readonly SilentEntity[] = [],
) {
  const { read, refused } = rows;
  const companies = new Map(await companiesByNumber(read, numbers, signal));
  const nothing = { CVREnhed: [], faxRows: new Map<string, readonly string[]>() };
  const found = await readUnits(rows, { ...nothing, companies, productionUnits: [] }, signal);
  const members = [...found.values()].flatMap(({ Produktionsenhed = [] }) =>
    standing(Produktionsenhed).filter((row) => dayIn(row, 'tilknyttetTilVirksomhedOphoersdato') === null),
  );
  const productionUnits = [...new Set(members.flatMap((row) => unitIdOf(row) ?? []))];
  const units = await readUnits(rows, { ...nothing, companies: new Map(), productionUnits }, signal);
  const all = [...found.values(), ...units.values()].map((each) => withoutBehind(each, silent));
  const behind = refused().size > 0 ? all : all.filter(({ isBehind }) => isBehind);
  return { documents: all.flatMap((each) => documentOf(each.rows, null)), again: entitiesOf(behind) };
}

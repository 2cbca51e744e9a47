/**
 * Finds the weekly files of one generation. The list also names files that have expired, and may name a generation that
 * is still being written.
 */
import { isJsonObject } from '../../../../../protocol/text/json.ts';
import { text, whole } from '../../../document/fields.ts';
import { type DafEntity, ENTITIES, entityNamed } from '../rows.ts';

export interface WeeklyFile {
  readonly name: string;
  readonly entity: DafEntity;
  readonly format: 'csv' | 'json';
  readonly generation: number;
  readonly md5: string;
  readonly bytes: number;
  /** The time of the state in the file; undefined for files with the whole history. */
  readonly pointInTime: number | undefined;
}

export interface Generation {
  readonly number: number;
  readonly files: readonly WeeklyFile[];
  /** The earliest state of its files. */
  readonly pointInTime: number;
}

/** Files with the whole history are four times as large. Some entities have only `Bitemporal` files. */
const TYPES: ReadonlySet<unknown> = new Set(['Current', 'Bitemporal']);

function fileOf(entry: unknown, now: number): readonly WeeklyFile[] {
  if (!isJsonObject(entry) || entry['typeOfDownload'] !== 'TotalDownload' || !TYPES.has(entry['typeOfData'])) return [];
  const entity = entityNamed(text(entry['entityName']) ?? '');
  const format = text(entry['containedFileFormat'])?.toLowerCase();
  const [name, md5] = [text(entry['fileName']), text(entry['md5Hash'])];
  const [generation, bytes] = [whole(entry['generationNumber']), whole(entry['fileSizeInBytes'])];
  const expires = Date.parse(text(entry['expirationDate']) ?? '');
  if (entity === undefined || name === null || md5 === null || generation === null || bytes === null) return [];
  if ((format !== 'csv' && format !== 'json') || expires <= now) return [];
  const at = Date.parse(text(entry['pointInTime']) ?? '');
  return [{ name, entity, format, generation, md5, bytes, pointInTime: Number.isNaN(at) ? undefined : at }];
}

/** The newest complete generation, with one file per entity: CSV is smaller than JSON, and quicker to read. */
export function newestGeneration(list: unknown, now: number): Generation | undefined {
  const entries = isJsonObject(list) ? list['availableFileDownloads'] : undefined;
  const files = (Array.isArray(entries) ? entries : []).flatMap((entry) => fileOf(entry, now));
  const generations = [...Map.groupBy(files, ({ generation }) => generation)].sort(([a], [b]) => b - a);
  for (const [number, all] of generations) {
    const byEntity = Map.groupBy(all, ({ entity }) => entity);
    const chosen = ENTITIES.flatMap((entity) => {
      const ofEntity = byEntity.get(entity) ?? [];
      const file = ofEntity.find(({ format }) => format === 'csv') ?? ofEntity[0];
      return file === undefined ? [] : [file];
    });
    const times = chosen.flatMap(({ pointInTime }) => pointInTime ?? []);
    if (chosen.length === ENTITIES.length && times.length > 0)
      return { number, files: chosen, pointInTime: Math.min(...times) };
  }
  return undefined;
}

/** Contexts and units, which both forms of a report state in the same elements. */
import type { Namer, XbrlContext } from './facts.ts';
import type { ResolvePrefix, Tag } from './xml.ts';

const XBRLI = 'http://www.xbrl.org/2003/instance';
const XBRLDI = 'http://xbrl.org/2006/xbrldi';
const MAX_TEXT = 1_000;

export interface Resources {
  /** True where the element belongs to a context or a unit. */
  open(tag: Tag): boolean;
  /** For text inside of one. */
  text(text: string): void;
  close(tag: Tag): void;
  readonly contexts: ReadonlyMap<string, XbrlContext>;
  readonly units: ReadonlyMap<string, string>;
}

interface Draft {
  id: string;
  start: string | null;
  end: string | null;
  dimensions: Record<string, string>;
}

export function createResources(resolve: ResolvePrefix, name: Namer): Resources {
  const contexts = new Map<string, XbrlContext>();
  const units = new Map<string, string>();
  let context: Draft | undefined;
  let unit: { id: string; measures: string[] } | undefined;
  /** The dimension whose member is being read. */
  let dimension: string | undefined;
  let text = '';

  const qualified = (qname: string): string => {
    const [prefix, local] = split(qname);
    return name(resolve(prefix) ?? '', local);
  };

  return {
    contexts,
    units,
    open(tag) {
      if (context === undefined && unit === undefined) {
        if (tag.uri !== XBRLI) return false;
        const id = attribute(tag, 'id') ?? '';
        if (tag.local === 'context') context = { id, start: null, end: null, dimensions: {} };
        else if (tag.local === 'unit') unit = { id, measures: [] };
        else return false;
      }
      if (tag.uri === XBRLDI) dimension = qualified(attribute(tag, 'dimension') ?? '');
      text = dimension !== undefined && tag.uri !== XBRLDI ? text : '';
      return true;
    },
    text(more) {
      text += more.slice(0, MAX_TEXT - text.length);
    },
    close(tag) {
      if (context !== undefined && tag.uri === XBRLDI && dimension !== undefined) {
        const member = text.trim();
        context.dimensions[dimension] = tag.local === 'explicitMember' ? qualified(member) : member;
        dimension = undefined;
      } else if (tag.uri !== XBRLI) {
        return;
      } else if (context !== undefined) {
        if (tag.local === 'startDate') context.start = day(text, 'start');
        else if (tag.local === 'endDate' || tag.local === 'instant') context.end = day(text, 'end');
        else if (tag.local === 'context') {
          contexts.set(context.id, context);
          context = undefined;
        }
      } else if (unit !== undefined) {
        if (tag.local === 'measure') unit.measures.push(split(text.trim())[1]);
        else if (tag.local === 'unit') {
          units.set(unit.id, unit.measures.join('/'));
          unit = undefined;
        }
      }
    },
  };
}

/** The value of an attribute without namespace. */
export const attribute = (tag: Tag, name: string): string | undefined => tag.attributes[name]?.value;

/** Prefix and local part of a qualified name. */
export function split(qname: string): readonly [string, string] {
  const at = qname.indexOf(':');
  return at < 0 ? ['', qname] : [qname.slice(0, at), qname.slice(at + 1)];
}

const DAY = /^(\d{4}-\d{2}-\d{2})(T00:00:00)?/;

/** A period that ends at midnight ends with the day before (XBRL 2.1, 4.7.2). */
function day(text: string, which: 'start' | 'end'): string | null {
  const [, date, midnight] = DAY.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  return which === 'end' && midnight !== undefined ? dayBefore(date) : date;
}

/** The day before a day; the day itself where it is none. */
export function dayBefore(date: string): string {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) ? date : new Date(ms - 86_400_000).toISOString().slice(0, 10);
}

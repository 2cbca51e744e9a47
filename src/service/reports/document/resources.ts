import type { Namer, XbrlContext } from './facts.ts';
import type { ResolvePrefix, Tag } from './xml.ts';

const XBRLI = 'http://www.xbrl.org/2003/instance';
const XBRLDI = 'http://xbrl.org/2006/xbrldi';
const MAX_TEXT = 1_000;

export interface Resources {
  /** Whether the element belongs to a context or a unit. */
  open(tag: Tag): boolean;
  text(text: string): void;
  close(tag: Tag): void;
  readonly contexts: ReadonlyMap<string, XbrlContext>;
  readonly units: ReadonlyMap<string, string>;
}

interface Draft {
  id: string;
  entity: string;
  start: string | null;
  end: string | null;
  dimensions: Record<string, string>;
}

interface UnitDraft {
  readonly id: string;
  readonly measures: string[];
}

export function createResources(resolve: ResolvePrefix, name: Namer): Resources {
  const contexts = new Map<string, XbrlContext>();
  const units = new Map<string, string>();
  let context: Draft | undefined;
  let unit: UnitDraft | undefined;
  let dimension: string | undefined;
  let text = '';

  const qualified = (qname: string): string => {
    const [prefix, local] = split(qname);
    return name(resolve(prefix) ?? '', local);
  };

  const begin = (tag: Tag): void => {
    if (tag.uri !== XBRLI) return;
    const id = attribute(tag, 'id') ?? '';
    if (tag.local === 'context') context = { id, entity: '', start: null, end: null, dimensions: {} };
    if (tag.local === 'unit') unit = { id, measures: [] };
  };

  const endMember = (draft: Draft, kind: string): void => {
    if (dimension === undefined) return;
    const member = text.trim();
    draft.dimensions[dimension] = kind === 'explicitMember' ? qualified(member) : member;
    dimension = undefined;
  };

  const endInContext = (draft: Draft, element: string): void => {
    if (element === 'identifier') draft.entity = entityIn(text);
    if (element === 'startDate') draft.start = day(text, 'start');
    if (element === 'endDate' || element === 'instant') draft.end = day(text, 'end');
    if (element !== 'context') return;
    contexts.set(draft.id, draft);
    context = undefined;
  };

  const endInUnit = ({ id, measures }: UnitDraft, element: string): void => {
    if (element === 'measure') measures.push(split(text.trim())[1]);
    if (element !== 'unit') return;
    units.set(id, measures.join('/'));
    unit = undefined;
  };

  return {
    contexts,
    units,
    open(tag) {
      if (context === undefined && unit === undefined) begin(tag);
      if (context === undefined && unit === undefined) return false;
      if (tag.uri === XBRLDI) dimension = qualified(attribute(tag, 'dimension') ?? '');
      text = dimension !== undefined && tag.uri !== XBRLDI ? text : '';
      return true;
    },
    text(more) {
      text += more.slice(0, MAX_TEXT - text.length);
    },
    close({ uri, local }) {
      if (uri === XBRLDI && context !== undefined) endMember(context, local);
      if (uri !== XBRLI) return;
      if (context !== undefined) endInContext(context, local);
      else if (unit !== undefined) endInUnit(unit, local);
    },
  };
}

export const attribute = (tag: Tag, name: string): string | undefined => tag.attributes[name]?.value;

export function split(qname: string): readonly [string, string] {
  const at = qname.indexOf(':');
  return at < 0 ? ['', qname] : [qname.slice(0, at), qname.slice(at + 1)];
}

/** Normalises a company's number: even one document spells it in several ways. */
const entityIn = (text: string): string => text.toUpperCase().replace(/^\s*DK|[\s.-]/g, '');

const DAY = /^(\d{4}-\d{2}-\d{2})(T00:00:00)?/;

/** A period that ends at midnight ends with the day before (XBRL 2.1, 4.7.2). */
function day(text: string, which: 'start' | 'end'): string | null {
  const [, date, midnight] = DAY.exec(text.trim()) ?? [];
  if (date === undefined) return null;
  return which === 'end' && midnight !== undefined ? dayBefore(date) : date;
}

/** The day before a day; returns any other text unchanged. */
export function dayBefore(date: string): string {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) ? date : new Date(ms - 86_400_000).toISOString().slice(0, 10);
}

/** Inline XBRL: a page for people in which the facts are marked, as listed companies file, and since 2025 others. */
import { createNamer, DocumentError, type WantedFacts } from './facts.ts';
import { collect, joinFacts, type StatedFact } from './join.ts';
import { attribute, createResources, split } from './resources.ts';
import { inlineDate, inlineNumber } from './transform.ts';
import { type FactReader, isNil, MAX_TEXT } from './xbrl.ts';
import type { ResolvePrefix, Tag } from './xml.ts';

/** Version 1.0 and 1.1. */
const INLINE: readonly string[] = ['http://www.xbrl.org/2013/inlineXBRL', 'http://www.xbrl.org/2008/inlineXBRL'];

/** Characters kept of one document, marked texts within marked texts counted each. */
const MAX_KEPT = 32 * 1024 * 1024;
/** What a step along a chain of continued texts counts as, in characters. */
const STEP = 64;

/** A marked element while it is open: its text goes on to everything it lies in, unless it is excluded there. */
interface Marked {
  readonly kind: 'number' | 'text' | 'continuation' | 'excluded' | 'other';
  readonly tag: Tag;
  readonly concept: string;
  text: string;
}

interface Part {
  readonly text: string;
  readonly next: string | undefined;
}

export function createInlineReader(resolve: ResolvePrefix, isWanted: WantedFacts): FactReader {
  const name = createNamer();
  const resources = createResources(resolve, name);
  const open: Marked[] = [];
  const stated: StatedFact[] = [];
  /** Texts that go on elsewhere, and where. */
  const unfinished: { readonly fact: StatedFact; readonly next: string; readonly format: string | undefined }[] = [];
  const continuations = new Map<string, Part>();
  let inResource = 0;
  let kept = 0;

  const keepMore = (characters: number): void => {
    kept += characters;
    if (kept > MAX_KEPT) throw new DocumentError('marks the same text as too many facts');
  };

  /** A text with what follows it elsewhere; each part once, where a chain bites its tail. */
  const continued = (text: string, first: string): string => {
    const seen = new Set<string>();
    let whole = text;
    for (let id: string | undefined = first; id !== undefined && !seen.has(id) && whole.length < MAX_TEXT; ) {
      seen.add(id);
      const part = continuations.get(id);
      whole += part?.text ?? '';
      id = part?.next;
      // Many facts may begin one long chain of parts without a text: each step costs, too.
      keepMore(STEP + (part?.text.length ?? 0));
    }
    return whole.slice(0, MAX_TEXT);
  };

  const begin = (tag: Tag): Marked => {
    const kind = KINDS[tag.local] ?? 'other';
    if (kind !== 'number' && kind !== 'text') return { kind, tag, concept: '', text: '' };
    const [prefix, local] = split(attribute(tag, 'name') ?? '');
    const concept = name(resolve(prefix) ?? '', local);
    return { kind: isWanted(concept) && !isNil(tag) ? kind : 'other', tag, concept, text: '' };
  };

  const end = ({ kind, tag, concept, text }: Marked): void => {
    const next = attribute(tag, 'continuedAt');
    if (kind === 'continuation') continuations.set(attribute(tag, 'id') ?? '', { text, next });
    if (kind !== 'number' && kind !== 'text') return;
    const format = attribute(tag, 'format');
    const shown = { format, scale: attribute(tag, 'scale'), sign: attribute(tag, 'sign') };
    const fact: StatedFact = {
      concept,
      contextId: attribute(tag, 'contextRef') ?? '',
      unitId: attribute(tag, 'unitRef'),
      decimals: attribute(tag, 'decimals'),
      lang: attribute(tag, 'xml:lang'),
      // An unreadable number stays a text that is none, so that it is seen to be stated.
      value: kind === 'number' ? (inlineNumber(text, shown) ?? `?${text.slice(0, 100)}`) : text,
    };
    collect(stated, fact);
    if (kind === 'text' && next !== undefined) unfinished.push({ fact, next, format });
    else if (kind === 'text' && format !== undefined) fact.value = inlineDate(text, format);
  };

  return {
    open(tag) {
      if (resources.open(tag)) inResource += 1;
      else if (INLINE.includes(tag.uri) && tag.local in KINDS) open.push(begin(tag));
    },
    text(text) {
      if (inResource > 0) resources.text(text);
      for (let at = open.length - 1; at >= 0; at -= 1) {
        const marked = open[at];
        if (marked === undefined || marked.kind === 'excluded') return;
        if (marked.kind === 'other' || marked.text.length >= MAX_TEXT) continue;
        const more = text.slice(0, MAX_TEXT - marked.text.length);
        marked.text += more;
        keepMore(more.length);
      }
    },
    close(tag) {
      if (inResource > 0) {
        resources.close(tag);
        inResource -= 1;
      } else if (INLINE.includes(tag.uri) && tag.local in KINDS) {
        const marked = open.pop();
        if (marked !== undefined) end(marked);
      }
    },
    facts() {
      for (const { fact, next, format } of unfinished) {
        fact.value = continued(fact.value, next);
        if (format !== undefined) fact.value = inlineDate(fact.value, format);
      }
      return joinFacts(stated, resources);
    },
  };
}

const KINDS: Readonly<Record<string, Marked['kind']>> = {
  nonFraction: 'number',
  nonNumeric: 'text',
  continuation: 'continuation',
  exclude: 'excluded',
};

/** Reads inline XBRL: a page for people with tagged facts. Listed companies file it, and since 2025 others do too. */
import { createConceptNames, DocumentError, type WantedFacts } from './facts.ts';
import { collect, joinFacts, type StatedFact } from './join.ts';
import { attribute, createResources, split } from './resources.ts';
import { inlineDate, inlineNumber } from './transform.ts';
import { type FactReader, isNil, MAX_TEXT } from './xbrl.ts';
import type { ResolvePrefix, Tag } from './xml.ts';

/** Versions 1.0 and 1.1. */
const INLINE: readonly string[] = ['http://www.xbrl.org/2013/inlineXBRL', 'http://www.xbrl.org/2008/inlineXBRL'];

/** The most characters to keep of one document; a text counts once for each tagged element around it. */
const MAX_KEPT = 32 * 1024 * 1024;
/** What each step along a chain of continued texts adds to that count. */
const STEP = 64;

/** An open tagged element. Its text also belongs to the elements around it, unless an exclusion separates them. */
interface TaggedElement {
  readonly kind: 'number' | 'text' | 'continuation' | 'excluded' | 'other';
  readonly tag: Tag;
  readonly concept: string;
  text: string;
}

interface Unfinished {
  readonly fact: StatedFact;
  readonly next: string;
  readonly format: string | undefined;
}

/** Counts the characters that a reader keeps. Throws {@link DocumentError} above the limit. */
type CountKept = (characters: number) => void;

export function createInlineReader(resolve: ResolvePrefix, isWanted: WantedFacts): FactReader {
  const name = createConceptNames();
  const resources = createResources(resolve, name);
  const open: TaggedElement[] = [];
  const stated: StatedFact[] = [];
  const unfinished: Unfinished[] = [];
  let inResource = 0;
  let kept = 0;

  const countKept: CountKept = (characters) => {
    kept += characters;
    if (kept > MAX_KEPT) throw new DocumentError('marks the same text as too many facts');
  };
  const continuations = createContinuations(countKept);

  const begin = (tag: Tag): TaggedElement => {
    const kind = KINDS[tag.local] ?? 'other';
    if (kind !== 'number' && kind !== 'text') return { kind, tag, concept: '', text: '' };
    const [prefix, local] = split(attribute(tag, 'name') ?? '');
    const concept = name(resolve(prefix) ?? '', local);
    return { kind: isWanted(concept) && !isNil(tag) ? kind : 'other', tag, concept, text: '' };
  };

  const end = (element: TaggedElement): void => {
    const { kind, tag, text } = element;
    const next = attribute(tag, 'continuedAt');
    if (kind === 'continuation') continuations.add(attribute(tag, 'id') ?? '', { text, next });
    if (kind !== 'number' && kind !== 'text') return;
    const fact = factOf(element);
    collect(stated, fact);
    if (kind === 'number') return;
    const format = attribute(tag, 'format');
    if (next !== undefined) unfinished.push({ fact, next, format });
    else fact.value = shownText(text, format);
  };

  return {
    open(tag) {
      if (resources.open(tag)) inResource += 1;
      else if (INLINE.includes(tag.uri) && tag.local in KINDS) open.push(begin(tag));
    },
    text(text) {
      if (inResource > 0) resources.text(text);
      addText(open, text, countKept);
    },
    close(tag) {
      if (inResource > 0) {
        resources.close(tag);
        inResource -= 1;
      } else if (INLINE.includes(tag.uri) && tag.local in KINDS) {
        const element = open.pop();
        if (element !== undefined) end(element);
      }
    },
    facts() {
      for (const { fact, next, format } of unfinished)
        fact.value = shownText(continuations.join(fact.value, next), format);
      return joinFacts(stated, resources);
    },
  };
}

/** Adds text to the open elements from the inside out, up to an exclusion. */
function addText(open: readonly TaggedElement[], text: string, countKept: CountKept): void {
  for (const element of open.toReversed()) {
    if (element.kind === 'excluded') return;
    if (element.kind === 'other' || element.text.length >= MAX_TEXT) continue;
    const more = text.slice(0, MAX_TEXT - element.text.length);
    element.text += more;
    countKept(more.length);
  }
}

function factOf({ kind, tag, concept, text }: TaggedElement): StatedFact {
  const shown = { format: attribute(tag, 'format'), scale: attribute(tag, 'scale'), sign: attribute(tag, 'sign') };
  return {
    concept,
    contextId: attribute(tag, 'contextRef') ?? '',
    unitId: attribute(tag, 'unitRef'),
    decimals: attribute(tag, 'decimals'),
    lang: attribute(tag, 'xml:lang'),
    target: attribute(tag, 'target'),
    // Keeps an unreadable number as text, to show that the document states it.
    value: kind === 'number' ? (inlineNumber(text, shown) ?? `?${text.slice(0, 100)}`) : text,
  };
}

const shownText = (text: string, format: string | undefined): string =>
  format === undefined ? text : inlineDate(text, format);

/** A piece of a text, and the element in which the text continues. */
interface Part {
  readonly text: string;
  readonly next: string | undefined;
}

function createContinuations(countKept: CountKept) {
  const parts = new Map<string, Part>();
  return {
    add: (id: string, part: Part) => parts.set(id, part),
    /** A text with all pieces that follow it, each once, even if the chain is circular. */
    join(text: string, first: string): string {
      const seen = new Set<string>();
      let whole = text;
      for (let id: string | undefined = first; id !== undefined && !seen.has(id) && whole.length < MAX_TEXT; ) {
        seen.add(id);
        const part = parts.get(id);
        whole += part?.text ?? '';
        id = part?.next;
        // Each step counts too, because many facts may begin one long chain of pieces without text.
        countKept(STEP + (part?.text.length ?? 0));
      }
      return whole.slice(0, MAX_TEXT);
    },
  };
}

const KINDS: Readonly<Record<string, TaggedElement['kind']>> = {
  nonFraction: 'number',
  nonNumeric: 'text',
  continuation: 'continuation',
  exclude: 'excluded',
};

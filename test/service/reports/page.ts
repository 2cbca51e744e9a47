/** Writes the same invented reports as pages for people with the facts marked in them: inline XBRL. */
import { declarations, escaped, renamer, resources, type Said, type Stated } from './instance.ts';

export interface PageOptions {
  /** Figures are shown in thousands; only if they are whole ones. */
  readonly thousands?: boolean;
  /** How numbers are shown. */
  readonly style?: 'dot' | 'comma';
  /** Text and markup put between the facts. */
  readonly prose?: string;
  /** Concepts that are stated in the hidden header. */
  readonly hidden?: readonly string[];
  readonly namespace?: string;
  /** The target of the facts of an element. */
  readonly targetOf?: (concept: string) => string | undefined;
}

/** A whole page. */
export function page(stated: Stated, options: PageOptions = {}): string {
  const { prose = '', hidden = [], namespace = 'http://www.xbrl.org/2013/inlineXBRL' } = options;
  const mark = (said: Said) => marked(stated, said, options);
  const isHidden = ({ concept }: Said) => hidden.includes(concept);
  return inlinePage(
    stated,
    {
      hidden: stated.facts.filter(isHidden).map(mark).join('\n'),
      body: stated.facts
        .filter((said) => !isHidden(said))
        .map((said) => `<div class="row"><span>${mark(said)}</span>${prose}</div>`)
        .join('\n'),
    },
    namespace,
  );
}

/** A page around markup of one's own. */
export function inlinePage(
  stated: Stated,
  { hidden = '', body }: { readonly hidden?: string; readonly body: string },
  namespace = 'http://www.xbrl.org/2013/inlineXBRL',
): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="${namespace}" xmlns:xbrli="http://www.xbrl.org/2003/instance"`,
    ` xmlns:ixt="http://www.xbrl.org/inlineXBRL/transformation/2020-02-12" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`,
    ` ${declarations(stated)}>`,
    `<head><title>Årsrapport</title></head><body><div style="display:none"><ix:header><ix:hidden>${hidden}</ix:hidden>`,
    `<ix:resources>${resources(stated).join('')}</ix:resources></ix:header></div>`,
    body,
    '</body></html>',
  ].join('\n');
}

/** One fact as it stands in a page. */
function marked(stated: Stated, said: Said, options: PageOptions = {}): string {
  const { concept, at, value, unit, decimals = '0', lang } = said;
  const target = options.targetOf?.(concept);
  const name = `name="${renamer(stated)(concept)}" contextRef="${at}"${target === undefined ? '' : ` target="${target}"`}`;
  if (unit === undefined) {
    const language = lang === undefined ? '' : ` xml:lang="${lang}"`;
    return `<ix:nonNumeric ${name}${language}>${escaped(value)}</ix:nonNumeric>`;
  }
  const number = Number(value);
  const inThousands = options.thousands === true && number % 1_000 === 0;
  const shown = shownNumber(inThousands ? Math.abs(number) / 1_000 : Math.abs(number), options.style ?? 'dot');
  const format =
    number === 0 ? 'ixt:fixed-zero' : options.style === 'comma' ? 'ixt:num-comma-decimal' : 'ixt:num-dot-decimal';
  const sign = number < 0 ? ' sign="-"' : '';
  const scale = inThousands ? ' scale="3"' : '';
  const fact = `<ix:nonFraction ${name} unitRef="${unit}" decimals="${decimals}" format="${format}"${scale}${sign}>${number === 0 ? '–' : shown}</ix:nonFraction>`;
  return number < 0 ? `(${fact})` : fact;
}

/** As a page shows it: 1,234,567.5 or 1.234.567,5. */
export function shownNumber(number: number, style: 'dot' | 'comma'): string {
  const [whole = '', part] = String(number).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, style === 'dot' ? ',' : '.');
  return part === undefined ? grouped : `${grouped}${style === 'dot' ? '.' : ','}${part}`;
}

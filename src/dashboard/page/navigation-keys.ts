/** The keys after `g` that open a page: letters of its name that are free. */
import type { VNode } from 'preact';
import { html } from './html.ts';
import type { Reader } from './reader.ts';

const KEYS: Readonly<Record<string, string>> = {
  '/': 'o',
  '/inbox': 'r',
  '/companies': 'c',
  '/backfill': 'b',
  '/writes': 'w',
  '/connections': 'n',
  '/deliveries': 'd',
  '/monitors': 't',
  '/register': 'e',
  '/runs': 'u',
  '/audit': 'a',
  '/settings': 's',
  '/installation': 'i',
};

export const navigationKey = (path: string): string | undefined => KEYS[path];

/** Says what the keys do. Their script shows it. */
export const keyHelp = (reader: Reader): VNode => html`<p class="quiet" hidden data-keys>${reader.text('page.go')}</p>`;

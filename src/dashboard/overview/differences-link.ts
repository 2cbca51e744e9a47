import type { VNode } from 'preact';
import { MOST_COUNTED } from '../../operations/installation/status/read-status.ts';
import { html } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

/** The number of waiting differences, with a link. `count` goes up to one more than {@link MOST_COUNTED}. */
export const differencesLink = (reader: Reader, count: number): VNode =>
  html`<a href="/inbox?kind=difference">${
    count > MOST_COUNTED
      ? reader.text('overview.manyDifferences', { number: MOST_COUNTED })
      : reader.text('overview.differences', { count })
  }</a>`;

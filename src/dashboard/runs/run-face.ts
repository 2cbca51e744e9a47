/** How the page of a run shows the runs of one task. */
import type { VNode } from 'preact';
import type { StoredRun } from '../../runtime/runs/runs.ts';
import type { Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';
import type { Visit } from '../page/visit.ts';

/** The button that confirms a preview, and what it does. */
interface Confirmation {
  readonly button: string;
  readonly words: Markup;
}

export interface RunDetails {
  /** Absent if there is nothing to do. */
  readonly confirmation?: Confirmation | undefined;
  /** Replaces the confirmation. */
  readonly ask?: Markup;
  /** The results. */
  readonly body: Markup;
}

export interface RunFace<I> {
  title(reader: Reader, run: StoredRun<I>): string;
  /** The progress in words. */
  progress(reader: Reader, run: StoredRun<I>): string | undefined;
  /** The run's subject, as terms and descriptions. */
  facts(visit: Visit, run: StoredRun<I>): Markup | VNode | Promise<Markup>;
  details(visit: Visit, run: StoredRun<I>): Promise<RunDetails>;
  /** Further columns of its results as a file, after `key` and `result`; undefined if the results are elsewhere. */
  readonly columns?: readonly string[];
}

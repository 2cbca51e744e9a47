/** How pages are written: tagged templates whose values are always text, and never markup. */
import { html as template } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What stands in a page: elements, texts, lists of both, or nothing. */
export type Markup = ComponentChildren;

/**
 * Makes elements. A value is escaped where it stands; `false`, `null` and `undefined` leave nothing. A value of an attribute
 * that is an address must be ours: begin it with a path.
 */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = template;

/** A whole document as text. */
export const renderDocument = (document: VNode): string => `<!doctype html>${renderToString(document)}`;

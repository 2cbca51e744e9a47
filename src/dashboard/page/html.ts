/** Tagged templates for pages, whose values are always text and never markup. */
import { html as template } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What a page consists of: elements, text, lists of both, or nothing. */
export type Markup = ComponentChildren;

/**
 * Makes elements. Escapes each value for its place; `false`, `null` and `undefined` leave nothing. An address in an
 * attribute must begin with a path of the dashboard.
 */
export const html: (strings: TemplateStringsArray, ...values: unknown[]) => VNode = template;

export const renderDocument = (document: VNode): string => `<!doctype html>${renderToString(document)}`;

/** The toy provider, with its outcomes in the wrong order. */
import { BREAKAGES } from '../breakages.ts';
import { toyProvider, toySubject } from '../toy.ts';

export const subject = toySubject(toyProvider(BREAKAGES['order-of-outcomes']));

/** The toy provider as its author would hand it to `provider test`. */
import { toyProvider, toySubject } from '../toy.ts';

export const subject = { ...toySubject(toyProvider()), lacks: { merge: 'the toy never merges' } };

/** The toy provider, built for a version of the contract that this one cannot know. */
import { toyProvider, toySubject } from '../toy.ts';

export const subject = toySubject(toyProvider({ provider: { contract: '99.0.0' } }));

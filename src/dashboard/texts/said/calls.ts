/** What is said of a call that brought no whole answer, and of a delivery or test that failed by it, in Danish. */
import type { Said } from './sentence.ts';

export const CALLS_SAID: readonly Said[] = [
  ['answered {status}', 'svarede {status}'],
  ['answered {status}, a redirect', 'svarede {status}, en viderestilling'],
  ['answered {status}, a redirect to {address}', 'svarede {status}, en viderestilling til {address}'],
  ['what is not a URL', 'noget, der ikke er en URL'],
  ['The webhook answered {status}.', 'Webhooken svarede {status}.'],
  ['the change that it was to tell is no longer kept', 'den ændring, den skulle fortælle om, er ikke længere gemt'],
  ['it was held for {count} days', 'den blev holdt tilbage i {count} dage'],
  ['{call} could not connect in time ({code})', '{call} fik ikke forbindelse i tide ({code})'],
  ['{call} was stopped', '{call} blev stoppet'],
  ['{call} was stopped ({code})', '{call} blev stoppet ({code})'],
  [
    '{call} was refused: nothing listens at this address ({code})',
    '{call} blev afvist: intet lytter på denne adresse ({code})',
  ],
  [
    '{call} found no such host: check the base URL and the name server ({code})',
    '{call} fandt ikke værten: kontrollér basisadressen og navneserveren ({code})',
  ],
  [
    '{call} found a connection that cannot be trusted: check the certificate and the base URL ({code})',
    '{call} fandt en forbindelse, der ikke kan stoles på: kontrollér certifikatet og basisadressen ({code})',
  ],
  [
    '{call} was cut off before the whole answer came ({code})',
    '{call} blev afbrudt, før hele svaret var kommet ({code})',
  ],
  ['{call} was answered with a redirect ({code})', '{call} blev besvaret med en viderestilling ({code})'],
  [
    '{call} was answered with headers that are too large ({code})',
    '{call} blev besvaret med for store headere ({code})',
  ],
  [
    '{call} may not go to this address: it is not a public one, and the configuration does not allow it ({code})',
    '{call} må ikke gå til denne adresse: den er ikke offentlig, og konfigurationen tillader den ikke ({code})',
  ],
  ['{call} failed in the network ({code})', '{call} mislykkedes i netværket ({code})'],
  [
    '{call} was cut off, or answered with contradicting lengths ({reason})',
    '{call} blev afbrudt eller besvaret med modstridende længder ({reason})',
  ],
  [
    '{call} was answered with something that is not valid HTTP ({reason})',
    '{call} blev besvaret med noget, der ikke er gyldig HTTP ({reason})',
  ],
  ['no code', 'ingen kode'],
  ['{call} had no whole answer within {count} ms', '{call} fik ikke et helt svar inden for {count} ms'],
  ['{call} had no answer within {count} ms', '{call} fik intet svar inden for {count} ms'],
  ['{call} was answered without a status', '{call} blev besvaret uden status'],
  [
    '{call} was answered with a redirect ({status}), which is never followed: check the base URL',
    '{call} blev besvaret med en viderestilling ({status}), som aldrig følges: kontrollér basisadressen',
  ],
  [
    '{call} was answered with a redirect ({status}) to {address}, which is never followed: check the base URL',
    '{call} blev besvaret med en viderestilling ({status}) til {address}, som aldrig følges: kontrollér basisadressen',
  ],
  ['{call} was answered with more than {count} bytes', '{call} blev besvaret med mere end {count} byte'],
  [
    '{call} was answered with a body that cannot be decompressed',
    '{call} blev besvaret med et indhold, der ikke kan pakkes ud',
  ],
  [
    'the address of a request is not a URL: check the base URL',
    'adressen på et kald er ikke en URL: kontrollér basisadressen',
  ],
];

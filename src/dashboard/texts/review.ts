/** Texts of the review list. */

export const REVIEW_TEXTS = {
  'nav.review': { en: 'Review', da: 'Gennemsyn' },
  'review.help': {
    en: 'What cvrsync may not decide alone, or could not do. Answer with: cvrsync review retry, drop, accept or keep, and the id.',
    da: 'Det, cvrsync ikke selv må afgøre eller ikke kunne gøre. Svar med: cvrsync review retry, drop, accept eller keep, og id’et.',
  },
  'review.kind': { en: 'Kind', da: 'Slags' },
  'review.anyKind': { en: 'all but differences', da: 'alle undtagen forskelle' },
  'review.nothing': {
    en: 'Nothing needs a person. What does will stand here, the most urgent kind first.',
    da: 'Intet kræver et menneske. Det, der gør, kommer til at stå her, den mest påtrængende slags først.',
  },
  'review.noMatch': { en: 'Nothing of this kind needs a person.', da: 'Intet af denne slags kræver et menneske.' },
  'review.provider': { en: 'Connection', da: 'Forbindelse' },
  'review.property': { en: 'Property', da: 'Felt' },
  'review.since': { en: 'Since', da: 'Siden' },
  'review.about': { en: 'What', da: 'Hvad' },
  'review.reason': { en: 'Why', da: 'Hvorfor' },
  'review.advice': { en: 'What the answers do', da: 'Hvad svarene gør' },
  'review.record': { en: 'Record', da: 'Post' },
  'review.company': { en: 'Company', da: 'Virksomhed' },
  'review.crm': { en: 'The CRM holds', da: 'CRM’et har' },
  'review.register': { en: 'The register says', da: 'Registret siger' },
  'review.persons': { en: 'the values name persons', da: 'værdierne navngiver personer' },
  'review.next': { en: 'Next', da: 'Næste' },
  'review.first': { en: 'First', da: 'Første' },
} as const;

/** The texts of a report: who reports, who audited, and their statements. */
import { isPlain } from './contexts.ts';
import type { Facts, XbrlFact } from './facts.ts';
import { plainText } from './plain-text.ts';

const REVIEWS = ['AuditedFinancialStatements', 'FinancialStatementsExtendedReview', 'ReviewedFinancialStatements'];
const ofReviews = (name: string): readonly string[] => REVIEWS.map((review) => `arr:${name}${review}`);

/** The elements that hold the text of each metric; the first stated one counts. */
export const TEXTS = {
  classOfReportingEntity: ['fsa:ClassOfReportingEntity'],
  typeOfAuditorAssistance: ['cmn:TypeOfAuditorAssistance'],
  reportingCompanyName: ['gsd:NameOfReportingEntity'],
  submittingCompanyName: ['gsd:NameOfSubmittingEnterprise'],
  opinionOnFinancialStatements: [
    'arr:OpinionOnAuditedFinancialStatements',
    'arr:OpinionOnFinancialStatementsExtendedReview',
    'arr:OpinionOnReviewedFinancialStatements',
  ],
  descriptionOfQualifications: ofReviews('DescriptionOfQualificationsOf'),
  typeOfBasisForModifiedOpinion: ofReviews('TypeOfBasisForModifiedOpinionOn'),
  goingConcern: [
    'arr:MaterialUncertaintyConcerningGoingConcernAudit',
    'arr:MaterialUncertaintyConcerningGoingConcernExtendedReview',
    'fsa:DisclosureOfUncertaintiesRelatingToGoingConcern',
  ],
} as const;

export const REPORT_TYPE = 'gsd:InformationOnTypeOfSubmittedReport';
export const REPORTING_CVR = 'gsd:IdentificationNumberCvrOfReportingEntity';
export const SUBMITTING_CVR = 'gsd:IdentificationNumberCvrOfSubmittingEnterprise';
export const SIGNED_ON = 'arr:SignatureOfAuditorsDate';

/** The whole text; some reports have only its parts. */
export const REVIEW = 'mrv:ManagementsReview';
export const REVIEW_PARTS = [
  'mrv:DescriptionOfPrimaryActivitiesOfEntity',
  'mrv:DescriptionOfDevelopmentInActivitiesAndFinancialAffairs',
  'mrv:DescriptionOfExpectedDevelopment',
];
const SUPPLEMENTARY = 'arr:SupplementaryInformationOn';

const AUDITOR = {
  companyName: 'cmn:NameOfAuditFirm',
  companyCVR: 'cmn:IdentificationNumberCvrOfAuditFirm',
  id: 'cmn:IdentificationNumberOfAuditor',
  name: 'cmn:NameAndSurnameOfAuditor',
  title: 'cmn:DescriptionOfAuditor',
} as const;
const AUDITOR_DIMENSION = 'cmn:IdentificationOfAuditorDimension';

const NAMES: ReadonlySet<string> = new Set([
  ...Object.values(TEXTS).flat(),
  ...[REPORT_TYPE, REPORTING_CVR, SUBMITTING_CVR, SIGNED_ON, REVIEW, ...REVIEW_PARTS],
  ...['gsd:ReportingPeriodStartDate', 'gsd:ReportingPeriodEndDate'],
  ...Object.values(AUDITOR),
]);

export const isText = (concept: string): boolean => NAMES.has(concept) || concept.startsWith(SUPPLEMENTARY);

/** The first text under one of the names, Danish before other languages, of the company or its group as a whole. */
export function textOf(documents: readonly Facts[], concepts: readonly string[]): string | undefined {
  for (const concept of concepts) {
    for (const facts of documents) {
      const stated = (facts.get(concept) ?? []).filter(({ context }) => isPlain(context));
      const text = firstText(stated.filter(({ lang }) => lang?.startsWith('da'))) ?? firstText(stated);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

function firstText(facts: readonly XbrlFact[]): string | undefined {
  for (const { value } of facts) {
    const text = plainText(value);
    if (text !== '') return text;
  }
  return undefined;
}

export function supplementaryOf(documents: readonly Facts[]): readonly string[] {
  const stated = documents.flatMap((facts) => [...facts.keys()].filter((concept) => concept.startsWith(SUPPLEMENTARY)));
  return [...new Set(stated.flatMap((concept) => textOf(documents, [concept]) ?? []))];
}

export type AuditorFields = { readonly [F in keyof typeof AUDITOR]: string | null };

/** The auditors, numbered by a typed dimension. Facts without it apply to each of them, or describe the only one. */
export function auditorsOf(documents: readonly Facts[]): readonly AuditorFields[] {
  for (const facts of documents) {
    const keys = new Set<string>();
    for (const concept of Object.values(AUDITOR))
      for (const { context } of facts.get(concept) ?? []) keys.add(context.dimensions[AUDITOR_DIMENSION] ?? '');
    if (keys.size === 0) continue;
    if (keys.size > 1) keys.delete('');
    return [...keys].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).map((key) => auditor(facts, key));
  }
  return [];
}

function auditor(facts: Facts, key: string): AuditorFields {
  const field = (concept: string): string | null => {
    const stated = facts.get(concept) ?? [];
    const by = (wanted: string) =>
      firstText(stated.filter(({ context }) => (context.dimensions[AUDITOR_DIMENSION] ?? '') === wanted));
    return (by(key) ?? by(''))?.replace(/\s+/g, ' ') ?? null;
  };
  return {
    companyName: field(AUDITOR.companyName),
    companyCVR: field(AUDITOR.companyCVR),
    id: field(AUDITOR.id),
    name: field(AUDITOR.name),
    title: field(AUDITOR.title),
  };
}

/**
 * The older shape of a report, for the deprecated `Report` property. It is optional because it is reconstructed from
 * one sample.
 */
import { NUMBER_METRICS, RARE_NUMBER_METRICS, type ReportData, TEXT_METRICS } from '../../protocol/report.ts';

interface NewReport {
  readonly data: ReportData;
  readonly Report?: Readonly<Record<string, unknown>>;
}

/** The data of `newReport`; `isDeprecatedToo` adds the `Report` of the specification. */
export const newReportOf = (data: ReportData, isDeprecatedToo: boolean): NewReport => ({
  data,
  // The event's format has it as another name for `data`.
  ...(isDeprecatedToo && { Report: deprecatedReport(data) }),
});

/**
 * Figures as strings, each with the period; one auditor; the links under their old names. Omits metrics that the
 * report lacks, as the old shape did.
 */
function deprecatedReport(data: ReportData): Readonly<Record<string, unknown>> {
  const [auditor] = data.auditors;
  const metrics = [...NUMBER_METRICS, ...RARE_NUMBER_METRICS, ...TEXT_METRICS].flatMap((name) => {
    const metric = data[name];
    if (metric === null) return [];
    const { unit, value, possibleError, error } = metric;
    return [[name, { unit, value: value === null ? null : String(value), possibleError, error, period: data.period }]];
  });
  return {
    ...Object.fromEntries(metrics),
    cvr: data.cvr,
    reportType: data.reportType,
    period: data.period,
    publicationTime: data.publicationTime,
    reportYear: data.reportYear,
    pdfUrl: data.reportUrl,
    xmlUrl: data.xbrlUrl,
    tiffUrl: null,
    nameOfAuditFirm: auditor?.companyName ?? null,
    identificationNumberCvrOfAuditFirm: auditor?.companyCVR == null ? null : String(auditor.companyCVR),
    nameAndSurnameOfAuditor: auditor?.name ?? null,
  };
}

/** What a PromQL expression asks for, read by Prometheus' own grammar. */
import { parser } from '@prometheus-io/lezer-promql';

export interface Asked {
  readonly metric: string;
  /** Labels it selects by, with the value if it is one word. */
  readonly labels: readonly (readonly [label: string, value: string | undefined])[];
}

/** The selectors of an expression, and the labels it groups by; throws if it is no PromQL. */
export function readPromQl(expression: string): {
  readonly asked: readonly Asked[];
  readonly groups: readonly string[];
} {
  const asked: Asked[] = [];
  const groups: string[] = [];
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }): string => expression.slice(from, to);
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${expression}`);
      if (node.name === 'VectorSelector') {
        const matchers = node.node
          .getChildren('LabelMatchers')
          .flatMap((part) => [...part.getChildren('UnquotedLabelMatcher')]);
        asked.push({
          metric: textOf(node.node.getChild('Identifier') ?? node),
          labels: matchers.map((matcher) => {
            const [label, operator, value] = ['LabelName', 'MatchOp', 'StringLiteral'].map((name) => {
              const child = matcher.getChild(name);
              return child === null ? '' : textOf(child);
            });
            const word = (value ?? '').slice(1, -1);
            return [label ?? '', operator === '=' ? word : undefined];
          }),
        });
      }
      if (node.name === 'GroupingLabels') groups.push(...node.node.getChildren('LabelName').map(textOf));
    },
  });
  return { asked, groups };
}

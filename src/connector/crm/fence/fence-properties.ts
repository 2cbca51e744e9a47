/** The properties of an account: values are rendered by them, so that one that makes no sense would write a wrong text. Pure. */
import { misfitText, propertiesMisfit } from '../../../../providers/misfit.ts';
import type { Property } from '../../../../providers/provider.ts';
import { described } from './described.ts';
import { type AnswerReading, isText, readList, readObject, ShapeError } from './fence-values.ts';

export const readProperties =
  ({ told }: AnswerReading) =>
  (answer: unknown): readonly Property[] => {
    const all = readList(answer, 'a list of properties').map((property) => readObject(property, 'a property'));
    const misfit = propertiesMisfit(all);
    if (misfit !== undefined) throw new ShapeError(misfitText(misfit, described));
    return all.map((each) => {
      const property = each as unknown as Property;
      const { label, name } = property;
      return { ...property, label: isText(label) ? told(label) : name };
    });
  };

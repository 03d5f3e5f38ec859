/** An object id that is not the order's: another order has it; or, without `reference`, a person has said so. */
export interface OfOther {
  vmObjectId: number;
  reference?: string;
  /** The server was there before the order. */
  isOlder?: true;
}

export function describeOther({ vmObjectId, reference, isOlder }: OfOther): string {
  if (isOlder) return `${vmObjectId} was there before the order`;
  return reference === undefined
    ? `${vmObjectId} is none of its servers, as a person has said`
    : `${vmObjectId} is a server of ${reference}`;
}

/** @returns a sentence for a question, after a space; nothing where there are none */
export function describeOthers(others: readonly OfOther[]): string {
  if (others.length === 0) return '';
  return ` ${others.slice(0, shownMax).map(describeOther).join(', ')}${others.length > shownMax ? ' and more' : ''}.`;
}

const shownMax = 20;

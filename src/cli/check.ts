/** `check`: what a request would meet, before anything is sent. */
import type { CheckReport } from '../domain/checking';
import { describeProblems } from '../domain/problems';
import { describeQuote } from '../domain/quotes';
import { describeLimit, inAll } from '../domain/spending';
import { withSagas } from './connect';
import type { CommandContext, CommandResult } from './define';
import { exitStatus } from './exit-status';
import { readRequest } from './read-request';

type Alternative = NonNullable<CheckReport['alternatives']>[number];

export async function check({ printer, stdin }: CommandContext, file: string): Promise<CommandResult> {
  const request = await readRequest(file, stdin);
  return withSagas(async (sagas) => {
    const report = await sagas.check(request);
    const [status, sentence] = verdictOf(report);
    printer.line(sentence);
    printer.lines(describe(report).map(([name, text]) => `  ${name.padEnd(9)}  ${text}`));
    return { status, document: report };
  });
}

function verdictOf(report: CheckReport): [status: number, sentence: string] {
  const { problems, refused, unknown, asks, reference = 'free', held, behind } = report;
  if (problems.length > 0) return [exitStatus.refused, 'the request is wrong'];
  if (refused.length > 0) return [exitStatus.notDone, 'it would end without a purchase'];
  if (unknown.length > 0) return [exitStatus.noConnection, 'not all could be looked at'];
  if (reference !== 'free') return [exitStatus.notDone, 'a start of it would begin nothing new'];
  if (asks.length > 0) return [exitStatus.waits, 'it would ask a person before anything is bought'];
  const waits = [...(held ? ['new sagas begin'] : []), ...(behind ? [`${behind} has ended`] : [])];
  return [exitStatus.done, ['it would go through', ...waits].join(waits.length > 0 ? ' once ' : '')];
}

function describe(report: CheckReport): [name: string, text: string][] {
  const { problems, refused, asks, unknown, reference, held, behind, quote, limits, alternatives = [] } = report;
  const rows: [name: string, texts: (string | undefined)[]][] = [
    ['wrong', problems.map((problem) => describeProblems([problem]))],
    ['refused', refused],
    ['asks', asks.map(describeAsked)],
    ['unknown', unknown],
    ['reference', [reference && standings[reference]]],
    ['held', [held && `new sagas are ${held}`]],
    ['queue', [behind && `${behind} works on the same, or is to work next`]],
    ['costs', [quote ? describeQuote(quote) : priceOf(report)]],
    ['limit', limits.map(describeSpending)],
    ['sold out', alternatives.map(describeAlternative)],
  ];
  return rows.flatMap(([name, texts]) => texts.flatMap((text): [string, string][] => (text ? [[name, text]] : [])));
}

const describeAsked = ({ kind, why }: CheckReport['asks'][number]) => `${kind}: ${why}`;

const priceOf = ({ total, currency, unpriced }: Pick<CheckReport, 'total' | 'currency' | 'unpriced'>) =>
  total === undefined ? unpriced : `about ${total} ${currency}, by the price list`;

function describeAlternative({ item, alternative, refused, asks, ...price }: Alternative): string {
  const against = refused.length > 0 ? [`is passed over: ${refused.join('; ')}`] : asks.map(describeAsked);
  const met = [priceOf(price), ...against].filter((text) => text !== undefined);
  return `item ${item}, alternative ${alternative}: ${met.join('; ')}`;
}

function describeSpending({ account, spent, adds, ...limit }: CheckReport['limits'][number]): string {
  const inSum = inAll({ spent, adds });
  return `${describeLimit(limit)} of ${account}: ${spent} spent, and this adds ${adds}: ${inSum} in all`;
}

const standings = {
  free: 'nobody has it yet',
  same: 'it has this very request: a start goes on with it, or says how it ended',
  started: 'a saga has it that has not begun',
  taken: 'it belongs to another request',
};

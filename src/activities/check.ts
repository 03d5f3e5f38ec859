/** What a saga would meet if it began now. See `src/domain/checking.ts`. */
import type { CheckedWorkflow, CheckReport, CheckRequest } from '../domain/checking';
import { correctedBy } from '../domain/corrections';
import { describeHolder } from '../domain/hold';
import { workflowIdOf } from '../domain/identity';
import { whyLate } from '../domain/may-be-sent';
import { requestSchemas, type RequestOf } from '../domain/requests';
import { describeConcern, type ReviewReason } from '../domain/spending';
import { resourceOf } from '../domain/turns';
import { check } from '../domain/validation';
import { foresee } from '../journal/purchases';
import { whyRestored } from '../journal/restore/recovery-gap';
import { theJournal, type SagaKey } from '../journal/rows';
import { holderOf } from '../journal/turns';
import { withSecrets } from './cart';
import type { Tools } from './effect';
import { isAnothers } from './journal';
import { shownQuote } from './quotes';
import { lookAtRun, whoHolds } from './temporal';
import { callFailureOf } from './translate-failure';

/** No saga has it. */
const noReference = '';

export function createCheckActivities({ provider, journal, secrets, settings }: Tools) {
  const quoteOf = async (request: RequestOf['changeOrder' | 'switchPlan']) => {
    const { subscription_id } = request;
    const quote = await ('resources' in request
      ? provider.quoteChangeOrder({ subscription_id, resources: request.resources })
      : provider.quotePlanSwitch({ subscription_id, plan_id: request.plan_id }));
    return shownQuote(provider, quote);
  };
  const standingOf = async (key: SagaKey, request: unknown): Promise<CheckReport['reference']> => {
    if (await journal.isTaken(key)) return (await isAnothers(journal, key, request)) ? 'taken' : 'same';
    return (await lookAtRun(workflowIdOf(key.workflow, key.reference))) ? 'started' : 'free';
  };
  return {
    /** What cannot be asked now is said, and nothing fails. */
    async checkAhead(input: CheckRequest): Promise<CheckReport> {
      const report: CheckReport = { problems: [], refused: [], asks: [], unknown: [], limits: [] };
      const { refused, asks, unknown } = report;
      const asking = async <T>(
        what: string,
        ask: () => Promise<T>,
        refusing = (why: string): unknown => unknown.push(why),
      ): Promise<T | undefined> => {
        try {
          return await ask();
        } catch (error) {
          const failed = callFailureOf(error, 'read', settings);
          if (failed === undefined) throw error;
          const why = `${what}: ${failed.message}`;
          if (failed.failure === 'Rejected') refusing(why);
          else unknown.push(why);
          return undefined;
        }
      };
      const { workflow, request: given } = input;
      const { profile, onRefusal } = settings;
      const isNamed = Object.hasOwn(given, 'reference');
      const checked = check<RequestOf[CheckedWorkflow]>(
        requestSchemas(profile?.planTypes)[workflow](),
        isNamed ? given : { ...given, reference: 'none' },
      );
      if (!checked.ok) return { ...report, problems: checked.problems };
      const request = checked.value;
      const key = { workflow, reference: isNamed ? request.reference : noReference };
      if (isNamed) report.reference = await asking('the reference', () => standingOf(key, request));
      if (report.reference === 'taken') refused.push('the reference belongs to another request');
      // No start of it would begin anything.
      if (report.reference !== 'free' && report.reference !== undefined) return report;

      const hold = await asking('the hold', whoHolds);
      if (hold) report.held = describeHolder(hold);
      const late = whyLate(Date.now(), { notAfter: 'notAfter' in request ? request.notAfter : undefined });
      if (late) refused.push(late.why);
      const resource = resourceOf(workflow, request);
      const before = resource && (await asking('the queue', () => holderOf(journal, resource)));
      if (before) report.behind = workflowIdOf(before.workflow, before.reference);
      if ('items' in request)
        await asking('a secret', () => Promise.all(request.items.map((item) => withSecrets(item, secrets))));
      const { quoteOnly = false, onRefusal: asked = onRefusal } = request as Partial<RequestOf['changeOrder']>;
      const refusing = (why: string) => {
        if (asked === 'ask' && !quoteOnly) asks.push({ kind: 'refused', why });
        else refused.push(why);
      };
      const quote = isQuoted(request) ? await asking('the quote', () => quoteOf(request), refusing) : undefined;
      if (quote) report.quote = quote;
      if (quoteOnly) return report;
      if (quote?.available === false) refusing('the provider says that it is not available');
      const foreseeing = async (wanted: typeof request, quoted?: typeof quote) => {
        const met: Pick<CheckReport, 'refused' | 'asks' | 'limits'> = { refused: [], asks: [], limits: [] };
        const buying = journal.buying(workflow, wanted, settings, quoted);
        if (buying === undefined) return met;
        const { notNow, concerns, spending } = await journal.inTransaction((tx) => foresee(tx, key, buying, settings));
        if (notNow?.how === 'asks') met.asks.push({ kind: 'approval', why: whyApproved(notNow.concern) });
        else if (notNow) met.refused.push(notNow.why);
        met.asks.push(...concerns.map((concern) => ({ kind: concern.kind, why: describeConcern(concern) })));
        met.limits = spending.flatMap(({ account, most, unit, withinMs, spent, adds }) =>
          account === undefined ? [] : [{ account, most, unit, withinMs, spent, adds }],
        );
        const { total, currency, unpriced } = buying.facts.terms;
        return { ...met, total, currency, unpriced };
      };
      await asking('the journal', async () => {
        const restored = await journal.read(async (db) => whyRestored(await theJournal(db), journal.failover.how));
        if (restored !== undefined) unknown.push(restored);
        // Without its quote nobody knows what it would cost.
        if (isQuoted(request) && !quote?.available) return;
        const foreseen = await foreseeing(request, quote);
        refused.push(...foreseen.refused);
        asks.push(...foreseen.asks);
        Object.assign(report, { ...foreseen, refused, asks });
        const alternatives = 'items' in request ? alternativesOf(request) : [];
        if (alternatives.length === 0) return;
        report.alternatives = [];
        for (const { instead, ...which } of alternatives) {
          const { limits: _, ...met } = await foreseeing(instead);
          report.alternatives.push({ ...which, ...met });
        }
      });
      return report;
    },
  };
}

const isQuoted = (request: RequestOf[CheckedWorkflow]): request is RequestOf['changeOrder' | 'switchPlan'] =>
  'subscription_id' in request;

/** The request with each alternative in turn in the place of its item. */
function alternativesOf(request: RequestOf['provisionServers']) {
  return request.items.flatMap(({ alternatives = [] }, index) =>
    alternatives.map((fields, which) => {
      const correction = { items: [index + 1], alternative: which + 1, ...fields };
      const instead = correctedBy([correction], 'provisionServers', request);
      return { item: index + 1, alternative: which + 1, instead };
    }),
  );
}

function whyApproved(concern: ReviewReason): string {
  const why = concern.kind === 'approval' ? concern.why : [];
  return why.length > 0 ? why.join(' ') : 'The request asks for an approval.';
}

/** Existing subscriptions: change orders and plan switches with their quotes, rows 4–7. */
import type { ChangeOrderPlaced, Ledger, PlanSwitched } from './ledger';
import { type Answer, changeOrderAnswer, refusal } from './responses';
import type { Resource } from './payloads';
import { checkChangeOrder, checkSwitch, checkSwitchQuote } from './rules';
import type { Settings } from './settings';

/** The document's quote table. */
interface Quote {
  available: boolean;
  total: number;
  currency: string;
  date_from: string;
  date_to: string;
}

export class Subscriptions {
  /** Plans after a switch; before it, the settings have them. */
  private readonly switchedTo = new Map<number, number>();
  private nextChangeOrderId = 301;

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: () => Settings,
  ) {}

  /** Row 5; places nothing. */
  quoteChangeOrder(body: unknown): Answer {
    const checked = checkChangeOrder(body, this.settings());
    if (!checked.ok) return refusal(422, 'The change order is not valid', checked.errors);
    const { subscription_id, resources } = checked.value;
    if (!this.exists(subscription_id)) return noSubscription(422);
    return { status: 200, body: this.changeQuote(subscription_id, resources) };
  }

  /** Row 4. */
  placeChangeOrder(body: unknown): Answer {
    const checked = checkChangeOrder(body, this.settings());
    if (!checked.ok) return refusal(422, 'The change order is not valid', checked.errors);
    const { subscription_id, resources } = checked.value;
    if (!this.exists(subscription_id)) return noSubscription(422);
    const quote = this.changeQuote(subscription_id, resources);
    if (!quote.available) return refusal(422, 'The change order cannot be placed', ['resources: not available']);
    const change = this.ledger.tookEffect<ChangeOrderPlaced>({
      type: 'changeOrderPlaced',
      changeOrderId: this.nextChangeOrderId++,
      subscriptionId: subscription_id,
      resources,
      total: quote.total,
      currency: quote.currency,
    });
    return changeOrderAnswer(this.settings().changeOrderResponse, change);
  }

  /** Row 7. */
  quoteSwitch(body: unknown): Answer {
    const checked = checkSwitchQuote(body, this.settings());
    if (!checked.ok) return refusal(422, 'The switch is not valid', checked.errors);
    if (!this.exists(checked.value.subscription_id)) return noSubscription(422);
    return { status: 200, body: this.switchQuote(checked.value.subscription_id, checked.value.plan_id) };
  }

  /**
   * Row 6. Answers like row 7. Whether it also switches, and what `available` then is, are settings: the document does
   * not say.
   */
  switchPlan(subscriptionId: number | null, body: unknown): Answer {
    const checked = checkSwitch(body, this.settings());
    if (!checked.ok) return refusal(422, 'The switch is not valid', checked.errors);
    if (subscriptionId === null || !this.exists(subscriptionId)) return noSubscription(404);
    const planId = checked.value.plan_id;
    const quote = this.switchQuote(subscriptionId, planId);
    const { switchTakesEffect, switchAnswersAvailable } = this.settings();
    if (!switchTakesEffect) return { status: 200, body: quote };
    if (!quote.available) {
      const errors = this.sameType(subscriptionId, planId)
        ? ['plan_id: not available']
        : ['plan_id: the target plan must have the same plan type as the current plan'];
      return refusal(422, 'The plan cannot be switched', errors);
    }
    this.ledger.tookEffect<PlanSwitched>({
      type: 'planSwitched',
      subscriptionId,
      fromPlanId: this.planOf(subscriptionId) ?? null,
      planId,
      total: quote.total,
      currency: quote.currency,
    });
    this.switchedTo.set(subscriptionId, planId);
    return { status: 200, body: { ...quote, available: switchAnswersAvailable } };
  }

  private exists(subscriptionId: number): boolean {
    const { anySubscription, subscriptions } = this.settings();
    return subscriptions[subscriptionId] !== undefined || (anySubscription && subscriptionId > 0);
  }

  private changeQuote(subscriptionId: number, resources: Resource[]): Quote & { inapplicable_resources: string[] } {
    const { inapplicableResources, resourcePrices, unavailableResources, unavailableSubscriptions } = this.settings();
    const names = resources.map((resource) => resource.resource_name);
    const total = resources
      .filter((resource) => !inapplicableResources.includes(resource.resource_name))
      .reduce((sum, { resource_name, delta_value }) => sum + (resourcePrices[resource_name] ?? 1) * +delta_value, 0);
    return {
      ...this.quote(subscriptionId, total),
      available:
        !unavailableSubscriptions.includes(subscriptionId) &&
        !names.some((name) => unavailableResources.includes(name)),
      inapplicable_resources: inapplicableResources.filter((name) => names.includes(name)),
    };
  }

  private switchQuote(subscriptionId: number, planId: number): Quote {
    const { planPrices, unavailablePlans, unavailableSubscriptions } = this.settings();
    return {
      ...this.quote(subscriptionId, planPrices[planId] ?? 10 + (planId % 40)),
      available:
        !unavailableSubscriptions.includes(subscriptionId) &&
        !unavailablePlans.includes(planId) &&
        this.sameType(subscriptionId, planId),
    };
  }

  private quote(subscriptionId: number, total: number): Omit<Quote, 'available'> {
    const { quoteCurrency, quotePeriod, subscriptions } = this.settings();
    return {
      // Whole cents, so that sums show no floating-point errors.
      total: Math.round(total * 100) / 100,
      currency: subscriptions[subscriptionId]?.currency ?? quoteCurrency,
      ...quotePeriod,
    };
  }

  private planOf(subscriptionId: number): number | undefined {
    return this.switchedTo.get(subscriptionId) ?? this.settings().subscriptions[subscriptionId]?.plan_id;
  }

  /** True also where either type is unknown. */
  private sameType(subscriptionId: number, planId: number): boolean {
    const { plans, subscriptions } = this.settings();
    const currentPlan = this.planOf(subscriptionId);
    const current =
      subscriptions[subscriptionId]?.plan_type ?? (currentPlan === undefined ? undefined : plans[currentPlan]);
    const target = plans[planId];
    return current === undefined || target === undefined || current === target;
  }
}

function noSubscription(status: 404 | 422): Answer {
  return refusal(status, 'There is no such subscription', ['subscription_id: does not exist']);
}

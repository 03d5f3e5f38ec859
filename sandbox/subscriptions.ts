/** Existing subscriptions: change orders and plan switches with their quotes, rows 4–7. */
import type { ChangeOrderPlaced, Ledger, PlanSwitched } from './ledger';
import { type Answer, checked, plainAnswer, refuse } from './responses';
import { changeOrderSchema, type Resource, switchQuoteSchema, switchSchema } from './rules';
import type { Settings } from './settings';

export class Subscriptions {
  private nextChangeOrderId = 301;

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: () => Settings,
  ) {}

  /** Row 5; places nothing. */
  quoteChangeOrder(body: unknown): Answer {
    const { subscription_id, resources } = checked(changeOrderSchema, body);
    return { status: 200, body: this.changeQuote(subscription_id, resources) };
  }

  /** Row 4. */
  placeChangeOrder(body: unknown): Answer {
    const { subscription_id, resources } = checked(changeOrderSchema, body);
    const { available, total, currency } = this.changeQuote(subscription_id, resources);
    if (!available) refuse(422, 'The change order cannot be placed', ['resources: not available']);
    this.ledger.tookEffect<ChangeOrderPlaced>({
      type: 'changeOrderPlaced',
      changeOrderId: this.nextChangeOrderId++,
      subscriptionId: subscription_id,
      resources,
      total,
      currency,
    });
    return plainAnswer;
  }

  /** Row 7; switches nothing. */
  quoteSwitch(body: unknown): Answer {
    const { subscription_id, plan_id } = checked(switchQuoteSchema, body);
    return { status: 200, body: this.switchQuote(subscription_id, plan_id) };
  }

  /**
   * Row 6 answers with a quote; the document does not say whether it also switches the plan. Here it does, which is the
   * worse case.
   */
  switchPlan(subscriptionId: number | null, body: unknown): Answer {
    const { plan_id: planId } = checked(switchSchema, body);
    if (subscriptionId === null) refuse(404, 'There is no such subscription');
    const quote = this.switchQuote(subscriptionId, planId);
    if (!quote.available) refuse(422, 'The plan cannot be switched', ['plan_id: not available']);
    const { total, currency } = quote;
    this.ledger.tookEffect<PlanSwitched>({ type: 'planSwitched', subscriptionId, planId, total, currency });
    return { status: 200, body: quote };
  }

  private changeQuote(subscriptionId: number, resources: Resource[]) {
    const { inapplicableResources, resourcePrices, unavailableResources } = this.settings();
    const names = resources.map((resource) => resource.resource_name);
    const total = resources
      .filter((resource) => !inapplicableResources.includes(resource.resource_name))
      .reduce((sum, { resource_name, delta_value }) => sum + (resourcePrices[resource_name] ?? 1) * +delta_value, 0);
    return {
      ...this.quote(subscriptionId, total, !names.some((name) => unavailableResources.includes(name))),
      inapplicable_resources: inapplicableResources.filter((name) => names.includes(name)),
    };
  }

  private switchQuote(subscriptionId: number, planId: number) {
    return this.quote(subscriptionId, 10 + (planId % 40), !this.settings().unavailablePlans.includes(planId));
  }

  /** The document's quote table. Its period is fixed, so that two runs of a test are the same. */
  private quote(subscriptionId: number, total: number, available: boolean) {
    const { anySubscription, unavailableSubscriptions } = this.settings();
    if (!anySubscription) {
      refuse(422, 'There is no such subscription', ['subscription_id: does not exist']);
    }
    return {
      available: available && !unavailableSubscriptions.includes(subscriptionId),
      // Whole cents, so that sums show no floating-point errors.
      total: Math.round(total * 100) / 100,
      currency: 'usd',
      date_from: '2026-01-01',
      date_to: '2026-02-01',
    };
  }
}

/** The cart and the orders: rows 1–3, and the servers that orders make. */
import type { CartItemAdded, CartItemDeleted, Ledger, OrderPlaced } from './ledger';
import { type Answer, cartItemAnswer, orderAnswer, plainAnswer, refusal } from './responses';
import type { CartItem } from './payloads';
import { checkCartItem, checkOrder } from './rules';
import type { Settings } from './settings';

interface CartEntry {
  item: CartItem;
  state: 'open' | 'ordered' | 'deleted';
}

export class Orders {
  private readonly cart = new Map<number, CartEntry>();
  /** Set by an account's first order, for good. */
  private readonly fixedCurrencies = new Map<string, string>();
  private nextCartItemId = 501;
  private nextOrderId = 701;

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: () => Settings,
    private readonly buildServer: () => number,
  ) {}

  /** Row 2. */
  addCartItem(body: unknown): Answer {
    const checked = checkCartItem(body, this.settings());
    if (!checked.ok) return refusal(422, 'The cart item is not valid', checked.errors);
    const cartItemId = this.nextCartItemId++;
    this.cart.set(cartItemId, { item: checked.value, state: 'open' });
    this.ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item: checked.value });
    return cartItemAnswer(cartItemId);
  }

  /** Row 3. What a second deletion answers is not shown; here the item is gone, so 404. */
  deleteCartItem(cartItemId: number | null): Answer {
    const entry = cartItemId === null ? undefined : this.cart.get(cartItemId);
    if (cartItemId === null || !entry || entry.state === 'deleted') return refusal(404, 'There is no such cart item');
    if (entry.state === 'ordered') return refusal(409, 'The cart item belongs to an order');
    entry.state = 'deleted';
    this.ledger.tookEffect<CartItemDeleted>({ type: 'cartItemDeleted', cartItemId });
    return plainAnswer(this.settings().plainResponse);
  }

  /** Row 1. */
  placeOrder(body: unknown): Answer {
    const checked = checkOrder(body, this.settings());
    if (!checked.ok) return refusal(422, 'The order is not valid', checked.errors);
    const { account, label, cartItems } = checked.value;

    const currency = this.currencyOf(account) ?? currencyNamed(checked.value.currency);
    const errors = currency === undefined ? ['currency: required, the account has none yet'] : [];
    const entries: CartEntry[] = [];
    for (const id of cartItems) {
      const entry = this.cart.get(id);
      if (entry?.state === 'open') entries.push(entry);
      else errors.push(`cartItems: ${id} ${entry ? `is already ${entry.state}` : 'does not exist'}`);
    }
    if (currency === undefined || errors.length > 0) return refusal(422, 'The order cannot be placed', errors);

    this.fixedCurrencies.set(account, currency);
    for (const entry of entries) entry.state = 'ordered';
    const items = entries.map((entry) => entry.item);
    const units = items.reduce((sum, item) => sum + (item.quantity ?? 1), 0);
    const order = this.ledger.tookEffect<OrderPlaced>({
      type: 'orderPlaced',
      orderId: this.nextOrderId++,
      account,
      currency,
      label: label ?? null,
      cartItems,
      items,
      vmObjectIds: Array.from({ length: units }, () => this.buildServer()),
    });
    return orderAnswer(this.settings().orderResponse, order);
  }

  private currencyOf(account: string): string | undefined {
    const { accountCurrencies, defaultAccountCurrency } = this.settings();
    return this.fixedCurrencies.get(account) ?? accountCurrencies[account] ?? defaultAccountCurrency ?? undefined;
  }
}

/** Quotes show "lowercase currency code"; an order may name it in any case. */
function currencyNamed(currency: unknown): string | undefined {
  return typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency) ? currency.toLowerCase() : undefined;
}

/** The cart and the orders: rows 1–3, and the servers that orders make. */
import type { CartItemAdded, CartItemDeleted, Ledger, OrderPlaced } from './ledger';
import { type Answer, cartItemAnswer, orderAnswer, plainAnswer, refusal } from './responses';
import type { CartItem } from './payloads';
import { checkCartItem, checkOrder, isServer } from './rules';
import type { Settings } from './settings';

interface CartEntry {
  item: CartItem;
  /** Its latest state; the ledger has all. */
  state: 'open' | 'ordered' | 'deleted';
}

export class Orders {
  private readonly cart = new Map<number, CartEntry>();
  /** Set by an account's first order, and never changed. */
  private readonly fixedCurrencies = new Map<string, string>();
  private nextCartItemId = 501;
  /** Ids of deleted items that no later item has got. */
  private readonly freeIds: number[] = [];
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
    const free = this.settings().idsGivenAgain ? this.freeIds.shift() : undefined;
    const cartItemId = free ?? this.nextCartItemId++;
    this.cart.set(cartItemId, { item: checked.value, state: 'open' });
    this.ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item: checked.value });
    return cartItemAnswer(cartItemId);
  }

  /**
   * Row 3. The document shows no error, so the setting `closedCartItems` says what a closed item answers. `refuse`: a
   * deleted item does not exist (404), and an ordered one belongs to its order (409). `take`: the id stays valid, so a
   * second deletion succeeds, changes nothing, and is not a second effect. Deleting an ordered item does not change the
   * order: no row of the document does that.
   */
  deleteCartItem(cartItemId: number | null): Answer {
    const entry = cartItemId === null ? undefined : this.cart.get(cartItemId);
    const { closedCartItems, plainResponse } = this.settings();
    if (cartItemId === null || !entry) return noCartItem();
    if (closedCartItems === 'refuse') {
      if (entry.state === 'deleted') return noCartItem();
      if (entry.state === 'ordered') return refusal(409, 'The cart item belongs to an order');
    }
    if (entry.state !== 'deleted') {
      entry.state = 'deleted';
      this.freeIds.push(cartItemId);
      this.ledger.tookEffect<CartItemDeleted>({ type: 'cartItemDeleted', cartItemId });
    }
    return plainAnswer(plainResponse);
  }

  /** Row 1. */
  placeOrder(body: unknown): Answer {
    const checked = checkOrder(body, this.settings());
    if (!checked.ok) return refusal(422, 'The order is not valid', checked.errors);
    const { account, label, cartItems } = checked.value;
    const { closedCartItems, orderResponse } = this.settings();

    const currency = this.currencyOf(account) ?? currencyNamed(checked.value.currency);
    const errors = currency === undefined ? ['currency: required, the account has none yet'] : [];
    const entries: CartEntry[] = [];
    for (const id of cartItems) {
      const entry = this.cart.get(id);
      if (entry && (entry.state === 'open' || closedCartItems === 'take')) entries.push(entry);
      else errors.push(`cartItems: ${id} ${entry ? `is already ${entry.state}` : 'does not exist'}`);
    }
    if (currency === undefined || errors.length > 0) return refusal(422, 'The order cannot be placed', errors);

    this.fixedCurrencies.set(account, currency);
    for (const entry of entries) entry.state = 'ordered';
    const items = entries.map((entry) => entry.item);
    const units = items.reduce((sum, item) => sum + (isServer(item, this.settings()) ? (item.quantity ?? 1) : 0), 0);
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
    return orderAnswer(orderResponse, order);
  }

  private currencyOf(account: string): string | undefined {
    const { accountCurrencies, defaultAccountCurrency } = this.settings();
    return this.fixedCurrencies.get(account) ?? accountCurrencies[account] ?? defaultAccountCurrency ?? undefined;
  }
}

function noCartItem(): Answer {
  return refusal(404, 'There is no such cart item');
}

/** Quotes have a "lowercase currency code"; an order may write it in any case. */
function currencyNamed(currency: unknown): string | undefined {
  return typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency) ? currency.toLowerCase() : undefined;
}

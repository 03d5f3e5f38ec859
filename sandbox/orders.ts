/** The cart and the orders: rows 1–3. */
import type { CartItemAdded, CartItemDeleted, Ledger, OrderPlaced } from './ledger';
import { type Answer, cartItemAnswer, checked, orderAnswer, plainAnswer, refuse, Refused } from './responses';
import { type CartItem, cartItemSchema, orderSchema } from './rules';
import type { Settings } from './settings';

interface CartEntry {
  item: CartItem;
  /** Its latest state; the ledger has all. */
  state: 'open' | 'ordered' | 'deleted';
}

export class Orders {
  private readonly cart = new Map<number, CartEntry>();
  private nextCartItemId = 501;
  private nextOrderId = 701;

  constructor(
    private readonly ledger: Ledger,
    private readonly settings: () => Settings,
    private readonly buildServer: () => number,
  ) {}

  /** Row 2. */
  addCartItem(body: unknown): Answer {
    const item = checkedItem(body, this.settings());
    if (this.settings().soldOut.includes(item.plan_id ?? 0))
      throw new Refused({ status: 409, body: { code: 'sold_out', message: 'Nothing is left of this plan' } });
    const cartItemId = this.nextCartItemId++;
    this.cart.set(cartItemId, { item, state: 'open' });
    this.ledger.tookEffect<CartItemAdded>({ type: 'cartItemAdded', cartItemId, item });
    return cartItemAnswer(cartItemId);
  }

  /**
   * Row 3. The document shows no error, so the setting `closedCartItems` says what a closed item answers. `refuse`: a
   * deleted item does not exist (404), and an ordered one belongs to its order (409). `take`: the id stays valid, so a
   * second deletion succeeds, changes nothing, and is not a second effect. Deleting an ordered item does not change the
   * order: no row of the document does that.
   */
  deleteCartItem(cartItemId: number | null): Answer {
    const entry = this.cart.get(cartItemId ?? 0);
    const refusing = this.settings().closedCartItems === 'refuse';
    if (cartItemId === null || !entry || (refusing && entry.state === 'deleted')) {
      refuse(404, 'There is no such cart item');
    }
    if (refusing && entry.state === 'ordered') refuse(409, 'The cart item belongs to an order');
    if (entry.state !== 'deleted') {
      entry.state = 'deleted';
      this.ledger.tookEffect<CartItemDeleted>({ type: 'cartItemDeleted', cartItemId });
    }
    return plainAnswer;
  }

  /** Row 1. */
  placeOrder(body: unknown): Answer {
    const { account, label, cartItems } = checked(orderSchema, body);
    const settings = this.settings();
    const errors: string[] = [];
    const entries: CartEntry[] = [];
    for (const id of cartItems) {
      const entry = this.cart.get(id);
      if (entry && (entry.state === 'open' || settings.closedCartItems === 'take')) entries.push(entry);
      else errors.push(`cartItems: ${id} ${entry ? `is already ${entry.state}` : 'does not exist'}`);
    }
    if (errors.length > 0) refuse(422, 'The order cannot be placed', errors);

    for (const entry of entries) entry.state = 'ordered';
    const items = entries.map((entry) => entry.item);
    const units = items.reduce((sum, item) => sum + (isServer(item, settings) ? (item.quantity ?? 1) : 0), 0);
    const order = this.ledger.tookEffect<OrderPlaced>({
      type: 'orderPlaced',
      orderId: this.nextOrderId++,
      account,
      currency: 'usd',
      label: label ?? null,
      cartItems,
      items,
      vmObjectIds: Array.from({ length: units }, () => this.buildServer()),
    });
    return orderAnswer(settings.orderResponse, order);
  }
}

/** The plan types of the document's password rule. The document also calls the four supported ones "cloud servers". */
const cloudServerPlanTypes = [
  'cloud_servers_standard',
  'cloud_servers_highmemory',
  'cloud_servers_highstorage',
  'cloud_servers_highfrequency',
  'cloud_servers_dedicatedcpu',
  'cloud_servers_highstorage_sas',
];

/** Row 2, with the rules between its fields. @throws Refused */
function checkedItem(body: unknown, { supportedPlanTypes, plans }: Settings): CartItem {
  const item = checked(cartItemSchema, body);
  const { plan_id, plan_type, password, os_template_id } = item;
  const errors: string[] = [];
  if (plan_type !== undefined) {
    if (!supportedPlanTypes.includes(plan_type)) {
      errors.push(`plan_type: must be one of ${supportedPlanTypes.join(', ')}`);
    }
    if (cloudServerPlanTypes.includes(plan_type)) {
      if (password === undefined) errors.push(`password: required for ${plan_type}`);
      if (os_template_id === undefined) errors.push(`os_template_id: required for ${plan_type}`);
    }
    const typeOfPlan = plans[String(plan_id)] ?? plan_type;
    if (typeOfPlan !== plan_type) errors.push(`plan_id: this plan is of type ${typeOfPlan}`);
  }
  if (errors.length > 0) refuse(422, 'The request is not valid', errors);
  return item;
}

/** True if an item makes servers: by its plan type, else by its plan's type, else by the setting. */
function isServer({ plan_type, plan_id }: CartItem, { plans, untypedItemsAreServers }: Settings): boolean {
  const planType = plan_type ?? plans[String(plan_id)];
  return planType === undefined ? untypedItemsAreServers : cloudServerPlanTypes.includes(planType);
}

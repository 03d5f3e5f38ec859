/** The documented requests, after the rules have accepted them, with the document's field names. */

export interface CartItem {
  billing_cycle: number;
  plan_id?: number | undefined;
  plan_type?: string | undefined;
  quantity?: number | undefined;
  addons?: { id: number; additional_value: number }[] | undefined;
  password?: string | undefined;
  os_template_id?: number | undefined;
  custom_ssh_key?: string | undefined;
  custom_script?: string | undefined;
}

export interface Order {
  account: string;
  /** Read only where the account has no currency yet: "if … already set, this field is ignored". */
  currency?: unknown;
  label?: string | undefined;
  cartItems: number[];
  payment_type?: 'ccard' | undefined;
}

export interface Resource {
  resource_name: string;
  delta_value: string;
}

export interface ChangeOrder {
  subscription_id: number;
  resources: Resource[];
}

import { correctPurchase, itemFieldsOf, raisedQuantities } from '../../../src/domain/corrections';
import { cartItem } from '../../support/requests';

const request = { reference: 'R', account: 'AB-1', label: 'web-1', items: [cartItem({ quantity: 2 }), cartItem()] };

describe('a corrected purchase', () => {
  it('has the new fields of the items that are named, and of no other', () => {
    expect(correctPurchase(request, { items: [2], quantity: 1, os_template_id: 9 }).items).toEqual([
      request.items[0],
      { ...request.items[1], quantity: 1, os_template_id: 9 },
    ]);
  });

  it('has the new fields of the order', () => {
    const correction = { label: 'web-2', currency: 'eur', vmObjectIds: [1] };
    expect(correctPurchase(request, correction)).toEqual({ ...request, ...correction });
  });

  it('gains no field that nobody named', () => {
    expect(correctPurchase({ ...request }, {})).toEqual(request);
    expect(Object.keys(correctPurchase({ reference: 'R', account: 'AB-1', items: [] }, {}))).toEqual([
      'reference',
      'account',
      'items',
    ]);
  });
});

it('what is an item’s is told from what is the order’s', () => {
  expect(itemFieldsOf({ items: [1], label: 'l', currency: 'c', vmObjectIds: [1], quantity: 1, password: 'p' })).toEqual(
    { quantity: 1, password: 'p' },
  );
});

it('quantities that were raised are named; one that is missing is one', () => {
  const raised = { items: [cartItem({ quantity: 3 }), cartItem({ quantity: 2 })] };
  expect(raisedQuantities(request, raised)).toEqual([
    'items[0].quantity: must not be more than 2, as in the first request',
    'items[1].quantity: must not be more than 1, as in the first request',
  ]);
  expect(raisedQuantities(request, { items: [cartItem({ quantity: 1 }), cartItem({ quantity: 1 })] })).toEqual([]);
  expect(raisedQuantities(request, request)).toEqual([]);
});

import { isAllowed, isInner } from '../../../src/notifications/addresses';

it.each([
  ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '100.64.0.1'],
  ...['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['224.0.0.1', '255.255.255.255', '198.18.0.1'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254', 'fec0::1', 'ff02::1', '2001:db8::1'],
  // IPv4 in IPv6, in every form.
  ...['::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '::7f00:1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1'],
  ...['64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:7f00:1::', '::ffff:0:7f00:1'],
])('%s is inside', (address) => {
  expect(isInner(address)).toBe(true);
});

const outside = ['1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'];
it.each(outside)('%s is outside', (address) => {
  expect(isInner(address)).toBe(false);
});

it.each<[string, string, string[], boolean]>([
  ['hooks.internal', '10.1.2.3', ['hooks.internal'], true],
  ['Hooks.Internal', '10.1.2.3', ['hooks.internal'], true],
  ['any', '10.1.2.3', ['10.1.0.0/16'], true],
  ['any', '10.1.2.3', ['10.1.2.3'], true],
  ['any', '::ffff:10.1.2.3', ['10.1.2.3/32'], true],
  ['any', 'fd00::7', ['fd00::/8'], true],
  ['any', '1.1.1.1', [], true],
  ['evil.example', '10.1.2.3', ['hooks.internal'], false],
  ['hooks.internal.evil.example', '10.1.2.3', ['hooks.internal'], false],
  ['any', '10.2.2.3', ['10.1.0.0/16'], false],
  ['any', '10.1.2.4', ['10.1.2.3'], false],
  ['any', '127.0.0.1', ['::/0'], false],
])('%s at %s, where %s is allowed, is notified: %s', (host, address, allowed, isNotified) => {
  expect(isAllowed(host, address, allowed)).toBe(isNotified);
});

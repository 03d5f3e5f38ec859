"""Made from schemas/ by generate.py."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from typing_extensions import NotRequired, TypedDict

Model: TypeAlias = Any


class Addon(TypedDict, closed=True):
    id: int
    additional_value: int


Secret: TypeAlias = str


class Password(TypedDict, closed=True):
    secret: Secret


class CustomSshKey(Password):
    pass


class CustomScript(Password):
    pass


class Alternative(TypedDict, closed=True):
    plan_id: NotRequired[int]
    plan_type: NotRequired[Literal['cloud_servers_standard', 'cloud_servers_highmemory', 'cloud_servers_dedicatedcpu', 'cloud_servers_highstorage_sas']]
    os_template_id: NotRequired[int]
    billing_cycle: NotRequired[Literal[1, 3, 12]]


class Item(TypedDict, closed=True):
    billing_cycle: Literal[1, 3, 12]
    plan_id: NotRequired[int]
    plan_type: NotRequired[Literal['cloud_servers_standard', 'cloud_servers_highmemory', 'cloud_servers_dedicatedcpu', 'cloud_servers_highstorage_sas']]
    quantity: NotRequired[int]
    addons: NotRequired[list[Addon]]
    password: NotRequired[str | Password]
    os_template_id: NotRequired[int]
    custom_ssh_key: NotRequired[str | CustomSshKey]
    custom_script: NotRequired[str | CustomScript]
    alternatives: NotRequired[list[Alternative]]


VmObjectId: TypeAlias = int


class Guard(TypedDict, closed=True):
    maxTotal: NotRequired[float]
    maxServers: NotRequired[int]
    maxItems: NotRequired[int]


class Approval(TypedDict, closed=True):
    above: int
    expiresAfterSeconds: NotRequired[int]


class Approval1(TypedDict, closed=True):
    aboveTotal: float
    expiresAfterSeconds: NotRequired[int]


class Approval2(TypedDict, closed=True):
    expiresAfterSeconds: int


class ProvisionServersRequest(TypedDict, closed=True):
    reference: str
    account: str
    currency: NotRequired[str]
    label: NotRequired[str]
    payment_type: NotRequired[Literal['ccard']]
    items: list[Item]
    firewalls: NotRequired[list[int]]
    vmObjectIds: NotRequired[list[VmObjectId]]
    guard: NotRequired[Guard]
    approval: NotRequired[Literal['never'] | Literal['always'] | Approval | Approval1 | Approval2]
    metadata: NotRequired[dict[str, str]]
    notAfter: NotRequired[str]
    onRefusal: NotRequired[Literal['fail', 'ask']]


class Guard1(TypedDict, closed=True):
    maxTotal: NotRequired[float]
    currency: NotRequired[str]
    allowInapplicable: NotRequired[bool]


class Approval3(TypedDict, closed=True):
    above: float
    expiresAfterSeconds: NotRequired[int]


class Approval4(Approval2):
    pass


class Resource(TypedDict, closed=True):
    resource_name: Literal['vm_backup', 'china_route', 'vm_antiddos']
    delta_value: str | float


class ChangeOrderRequest(TypedDict, closed=True):
    reference: str
    account: NotRequired[str]
    subscription_id: int
    guard: NotRequired[Guard1]
    approval: NotRequired[Literal['never'] | Literal['always'] | Approval3 | Approval4]
    metadata: NotRequired[dict[str, str]]
    quoteOnly: NotRequired[bool]
    notAfter: NotRequired[str]
    onRefusal: NotRequired[Literal['fail', 'ask']]
    resources: list[Resource]


class Approval5(Approval3):
    pass


class Approval6(Approval2):
    pass


class SwitchPlanRequest(TypedDict, closed=True):
    reference: str
    account: NotRequired[str]
    subscription_id: int
    guard: NotRequired[Guard1]
    approval: NotRequired[Literal['never'] | Literal['always'] | Approval5 | Approval6]
    metadata: NotRequired[dict[str, str]]
    quoteOnly: NotRequired[bool]
    notAfter: NotRequired[str]
    onRefusal: NotRequired[Literal['fail', 'ask']]
    plan_id: int


class SetFirewallsRequest(TypedDict, closed=True):
    reference: str
    vmObjectId: int
    assign: NotRequired[list[int]]
    unassign: NotRequired[list[int]]
    exactly: NotRequired[list[int]]
    metadata: NotRequired[dict[str, str]]
    notAfter: NotRequired[str]


class CleanCartRequest(TypedDict, closed=True):
    reference: str


class ApproveDecision(TypedDict, closed=True):
    question: str
    by: str
    note: NotRequired[str]


class ConfirmNotPlacedDecision(TypedDict, closed=True):
    question: str
    by: str
    note: str


class ConfirmPlacedDecision(TypedDict, closed=True):
    question: str
    by: str
    note: str
    vmObjectIds: NotRequired[list[int]]
    orderId: NotRequired[str | int]


class MarkCancelledDecision(ConfirmNotPlacedDecision):
    pass


class MarkDoneDecision(TypedDict, closed=True):
    question: str
    by: str
    note: str
    steps: NotRequired[list[str]]


class ProvideServersDecision(TypedDict, closed=True):
    question: str
    by: str
    note: NotRequired[str]
    vmObjectIds: list[int]


class RejectDecision(TypedDict, closed=True):
    question: str
    by: str
    note: NotRequired[str]
    reason: NotRequired[str]


class RetryDecision(TypedDict, closed=True):
    question: str
    by: str
    note: NotRequired[str]
    correction: NotRequired[dict[str, Any]]


class SkipDecision(ConfirmNotPlacedDecision):
    pass


class InsteadItem(TypedDict):
    item: int
    alternative: int
    plan_id: NotRequired[int]


class Server(TypedDict):
    vmObjectId: int
    firewalls: list[int]
    verified: bool


class Leftovers(TypedDict):
    kind: Literal['cart-item']
    cartItemId: int
    why: str


class Leftovers1(TypedDict):
    kind: Literal['cart-item-unknown']
    item: NotRequired[int]
    why: str


class Leftovers2(TypedDict):
    kind: Literal['firewalls']
    vmObjectId: int
    firewalls: list[int]
    why: str


class Leftovers3(TypedDict):
    kind: Literal['server-unprotected']
    vmObjectId: NotRequired[int]
    firewalls: list[int]
    why: str


class Leftovers4(TypedDict):
    kind: Literal['server-unverified']
    vmObjectId: int
    firewalls: list[int]
    why: str


class Leftovers5(TypedDict):
    kind: Literal['servers-miscounted']
    ordered: str
    named: list[int]
    why: str


class Leftovers6(TypedDict):
    kind: Literal['placement-unknown']
    step: str
    why: str


class Decision(TypedDict):
    decision: Literal['retry', 'skip', 'markDone', 'confirmPlaced', 'confirmNotPlaced', 'markCancelled', 'approve', 'reject', 'provideServers', 'cancel']
    kind: NotRequired[Literal['stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers']]
    step: NotRequired[str]
    at: str
    by: NotRequired[str]
    note: NotRequired[str]
    reason: NotRequired[str]
    question: NotRequired[str]
    vmObjectIds: NotRequired[list[int]]
    orderId: NotRequired[str]
    steps: NotRequired[list[str]]
    correction: NotRequired[dict[str, Any]]


class ProvisionServersResult(TypedDict):
    reference: str
    outcome: Literal['done', 'partly']
    cartItemIds: list[int]
    instead: NotRequired[list[InsteadItem]]
    order: Any
    servers: list[Server]
    skipped: list[str]
    leftovers: list[Leftovers | Leftovers1 | Leftovers2 | Leftovers3 | Leftovers4 | Leftovers5 | Leftovers6]
    decisions: list[Decision]


class Quote(TypedDict):
    available: bool
    total: float
    currency: str
    date_from: str
    date_to: str
    inapplicable_resources: NotRequired[list[Any]]


class ChangeOrderResult(TypedDict):
    reference: str
    outcome: Literal['done', 'partly']
    quote: NotRequired[Quote]
    placed: bool
    decisions: list[Decision]
    order: Any


class FinalQuote(Quote):
    pass


class SwitchPlanResult(TypedDict):
    reference: str
    outcome: Literal['done', 'partly']
    quote: NotRequired[Quote]
    placed: bool
    decisions: list[Decision]
    finalQuote: NotRequired[FinalQuote]


class Leftovers7(Leftovers):
    pass


class Leftovers8(Leftovers1):
    pass


class Leftovers9(Leftovers2):
    pass


class Leftovers10(Leftovers3):
    pass


class Leftovers11(Leftovers4):
    pass


class Leftovers12(Leftovers5):
    pass


class Leftovers13(Leftovers6):
    pass


class SetFirewallsResult(TypedDict):
    reference: str
    outcome: Literal['done', 'partly']
    vmObjectId: int
    assigned: list[int]
    unassigned: list[int]
    firewalls: list[int]
    verified: bool
    leftovers: NotRequired[list[Leftovers7 | Leftovers8 | Leftovers9 | Leftovers10 | Leftovers11 | Leftovers12 | Leftovers13]]


class Leftovers14(Leftovers):
    pass


class Leftovers15(Leftovers1):
    pass


class Leftovers16(Leftovers2):
    pass


class Leftovers17(Leftovers3):
    pass


class Leftovers18(Leftovers4):
    pass


class Leftovers19(Leftovers5):
    pass


class Leftovers20(Leftovers6):
    pass


class CleanCartResult(TypedDict):
    reference: str
    outcome: Literal['done', 'partly']
    deleted: list[int]
    leftAlone: list[int]
    leftovers: list[Leftovers14 | Leftovers15 | Leftovers16 | Leftovers17 | Leftovers18 | Leftovers19 | Leftovers20]
    decisions: list[Decision]


class Step(TypedDict):
    id: str
    title: str
    status: Literal['pending', 'running', 'done', 'stuck', 'skipped', 'undoing', 'undone', 'failed']
    attempts: int
    startedAt: NotRequired[str]
    endedAt: NotRequired[str]
    detail: NotRequired[str]


class ReachedItem(TypedDict):
    milestone: Literal['placed', 'servers', 'protected']
    at: str
    vmObjectIds: NotRequired[list[int]]


class LastFailure(TypedDict):
    failure: Literal['NotSent', 'TokenUnreadable', 'RateLimited', 'Unauthorized', 'NotYet', 'Rejected', 'UnknownOutcome', 'UnexpectedResponse', 'NotVisibleYet', 'NotDeclared', 'SecretMissing', 'WorkerLost', 'StoodStill', 'JournalUnavailable', 'JournalUnreadable', 'JournalRestored', 'TemporalUnavailable', 'UnderWay', 'StateChanged', 'Ordered', 'DeadlinePassed', 'QuoteAged', 'GuardViolated', 'NeedsApproval', 'OrderCancelled']
    whose: Literal['provider', 'journal', 'Temporal', 'us', 'us or the provider']
    message: str
    endpoint: NotRequired[str]
    status: NotRequired[int]
    body: NotRequired[str]


class Waiting(TypedDict):
    id: str
    kind: Literal['stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers']
    step: str
    steps: NotRequired[list[str]]
    servers: NotRequired[int]
    question: str
    choices: list[Literal['retry', 'skip', 'markDone', 'confirmPlaced', 'confirmNotPlaced', 'markCancelled', 'approve', 'reject', 'provideServers']]
    since: str
    expiresAt: NotRequired[str]
    nextTryAt: NotRequired[str]
    lastFailure: NotRequired[LastFailure]


class Queued(TypedDict):
    resource: str
    since: str
    before: int
    holder: str
    holderWaits: NotRequired[Literal['stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers']]
    lookedAt: str


class Settling(TypedDict):
    step: str
    until: str


class Leftovers21(Leftovers):
    pass


class Leftovers22(Leftovers1):
    pass


class Leftovers23(Leftovers2):
    pass


class Leftovers24(Leftovers3):
    pass


class Leftovers25(Leftovers4):
    pass


class Leftovers26(Leftovers5):
    pass


class Leftovers27(Leftovers6):
    pass


class Progress(TypedDict):
    reference: str
    workflow: Literal['provisionServers', 'changeOrder', 'switchPlan', 'setFirewalls', 'cleanCart']
    state: Literal['running', 'held', 'queued', 'settling', 'stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers', 'undoing', 'done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched']
    steps: list[Step]
    reached: list[ReachedItem]
    waiting: NotRequired[Waiting]
    queued: NotRequired[Queued]
    settling: NotRequired[Settling]
    leftovers: list[Leftovers21 | Leftovers22 | Leftovers23 | Leftovers24 | Leftovers25 | Leftovers26 | Leftovers27]
    decisions: list[Decision]


class Leftovers28(Leftovers):
    pass


class Leftovers29(Leftovers1):
    pass


class Leftovers30(Leftovers2):
    pass


class Leftovers31(Leftovers3):
    pass


class Leftovers32(Leftovers4):
    pass


class Leftovers33(Leftovers5):
    pass


class Leftovers34(Leftovers6):
    pass


class Problem(TypedDict):
    field: str
    message: str


class Report(TypedDict):
    reference: str
    workflow: Literal['provisionServers', 'changeOrder', 'switchPlan', 'setFirewalls', 'cleanCart']
    outcome: Literal['done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched']
    why: str
    steps: list[Step]
    known: dict[str, Any]
    leftovers: list[Leftovers28 | Leftovers29 | Leftovers30 | Leftovers31 | Leftovers32 | Leftovers33 | Leftovers34]
    decisions: list[Decision]
    problems: NotRequired[list[Problem]]


class Data(TypedDict):
    reference: str
    workflow: Literal['provisionServers', 'changeOrder', 'switchPlan', 'setFirewalls', 'cleanCart']
    workflowId: str
    runId: str
    namespace: str
    account: NotRequired[str]
    metadata: NotRequired[dict[str, str]]
    link: NotRequired[str]
    state: Literal['running', 'held', 'queued', 'settling', 'stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers', 'undoing', 'done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched']
    kind: NotRequired[Literal['stuck', 'refused', 'outcome-unknown', 'approval', 'duplicate', 'over-limit', 'servers']]
    step: NotRequired[str]
    steps: NotRequired[list[str]]
    question: NotRequired[str]
    choices: NotRequired[list[Literal['retry', 'skip', 'markDone', 'confirmPlaced', 'confirmNotPlaced', 'markCancelled', 'approve', 'reject', 'provideServers']]]
    since: NotRequired[str]
    expiresAt: NotRequired[str]
    failure: NotRequired[Literal['NotSent', 'TokenUnreadable', 'RateLimited', 'Unauthorized', 'NotYet', 'Rejected', 'UnknownOutcome', 'UnexpectedResponse', 'NotVisibleYet', 'NotDeclared', 'SecretMissing', 'WorkerLost', 'StoodStill', 'JournalUnavailable', 'JournalUnreadable', 'JournalRestored', 'TemporalUnavailable', 'UnderWay', 'StateChanged', 'Ordered', 'DeadlinePassed', 'QuoteAged', 'GuardViolated', 'NeedsApproval', 'OrderCancelled']]
    reminders: NotRequired[int]
    decision: NotRequired[Literal['retry', 'skip', 'markDone', 'confirmPlaced', 'confirmNotPlaced', 'markCancelled', 'approve', 'reject', 'provideServers']]
    vmObjectIds: NotRequired[list[int]]
    outcome: NotRequired[Literal['done', 'partly', 'reversed', 'reversed-with-leftovers', 'untouched']]
    ended: NotRequired[Literal['done', 'cancelled', 'InvalidRequest', 'ReferenceTaken', 'OrderRejected', 'OrderCancelled', 'CancelledBefore', 'ChangeNotAvailable', 'SwitchNotAvailable', 'GuardViolated', 'NotApproved', 'DeadlinePassed', 'FirewallsRejected', 'FirewallListUnreadable', 'HistoryFull']]
    leftovers: NotRequired[list[Literal['cart-item', 'cart-item-unknown', 'firewalls', 'server-unprotected', 'server-unverified', 'servers-miscounted', 'placement-unknown']]]


class Notification(TypedDict):
    type: Literal['saga.waiting', 'saga.reminder', 'saga.settled', 'saga.placed', 'saga.servers', 'saga.protected', 'saga.ended']
    timestamp: str
    data: Data

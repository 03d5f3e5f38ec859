"""Buys two servers, and answers what the saga asks: python order.py REFERENCE"""

import asyncio
import os
import sys

import order_saga
from models import ProvisionServersRequest


async def main(reference: str) -> int:
    client = await order_saga.connect(
        os.environ.get("TEMPORAL_ADDRESS", "localhost:7233"),
        os.environ.get("TEMPORAL_NAMESPACE", "default"),
        os.environ.get("PAYLOAD_KEYS"),
    )
    request: ProvisionServersRequest = {
        "reference": reference,
        "account": "AB-12345678",
        "label": reference,
        "items": [
            {
                "billing_cycle": 1,
                "plan_id": 17,
                "plan_type": "cloud_servers_standard",
                "os_template_id": 3,
                "quantity": 2,
                "password": "from your vault",
            }
        ],
        "firewalls": [143],
        "approval": "always",
    }
    saga = await order_saga.start(client, "provisionServers", request)
    print(f"{saga.workflow_id} {'goes on' if saga.existing else 'has begun'}")
    try:
        while True:
            try:
                servers = await saga.reached("servers")
                break
            except order_saga.SagaWaitsError as error:
                # A backend asks a person here. Who knows only that a call was lost does not know that it did nothing.
                if error.waiting["kind"] != "approval":
                    raise
                body = {"question": error.waiting["id"], "by": "order.py"}
                print(f"approved: {error.waiting['question']}")
                await saga.decide("approve", body)
        print(f"servers {servers['vmObjectIds']}")
        result = await saga.result()
        print(f"{result['outcome']}: {[server['firewalls'] for server in result['servers']]}")
    except order_saga.SagaFailedError as error:
        print(f"failed as {error.type}: {error}. Left over: {error.report['leftovers']}")
        return 1
    return 0


status = asyncio.run(main(sys.argv[1]))
# At once: threads of the SDK's core may still hand something over while the interpreter ends, which then aborts.
sys.stdout.flush()
os._exit(status)

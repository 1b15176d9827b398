"""Uses the client that openapi-python-client made in the folder `relay_client`: RELAY TOKEN DEVICE FILE. Prints JSON."""
import json
import sys

from relay_client import AuthenticatedClient
from relay_client.api.devices import list_devices
from relay_client.api.guide import invoke_tool
from relay_client.api.tools import call_tool
from relay_client.models import CallBody, CallBodyInput, ToolInput

relay, token, device, file = sys.argv[1:]
client = AuthenticatedClient(base_url=relay, token=token)
read = ToolInput.from_dict({"file_path": file})
called = call_tool.sync(device, "Read", client=client, body=read, matrx_session="new")
body = CallBody(tool="Read", input_=CallBodyInput.from_dict({"file_path": file}))
invoked = invoke_tool.sync(device, client=client, body=body)
refused = call_tool.sync(device, "Raed", client=client, body=read)
print(
    json.dumps(
        {
            "devices": [one.id for one in list_devices.sync(client=client).devices],
            "called": [called.type_.value, called.output],
            "invoked": [invoked.type_.value, invoked.output],
            "refused": [refused.status, refused.code.value, refused.hop],
        }
    )
)

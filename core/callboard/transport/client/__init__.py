"""The MCP client over HTTP: :class:`Client` blocks; the bridge uses what it is made of."""

from callboard.transport.client.blocking import Client as Client
from callboard.transport.client.http_client import RemoteError as RemoteError
from callboard.transport.client.http_client import refuse as refuse

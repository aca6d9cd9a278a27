"""The MCP client over HTTP. :class:`Client` is a blocking client, and the bridge uses its parts."""

from callboard_programs.client.blocking_client import Client as Client
from callboard_programs.client.http_client import RemoteError as RemoteError
from callboard_programs.client.http_client import refuse as refuse

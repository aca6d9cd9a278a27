"""What passes an MCP client's messages on to a host: the stdio bridge's and the gateway's."""

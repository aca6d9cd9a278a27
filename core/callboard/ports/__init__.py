"""What an application can do: the host contract, and one module a port."""

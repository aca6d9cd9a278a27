"""Taking objects from one instance into another: exported there, imported here, compared."""

"""Objects of one instance taken into another: exported there, imported here, compared."""

"""Generated inputs that mean harm, by room; ``python -m hostile`` in ``tests`` runs them."""

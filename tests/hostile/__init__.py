"""Generated malicious inputs, by room; ``python -m hostile`` in ``tests`` runs them."""

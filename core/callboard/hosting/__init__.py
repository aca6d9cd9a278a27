"""What an application owes callboard, and what its adapters share. Knows no application."""

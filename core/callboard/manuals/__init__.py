"""The manuals that a user has given to callboard: one index file for each, in the data folder."""

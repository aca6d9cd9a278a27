"""Bundles on disk: unpacking, checking, installing and finding them."""

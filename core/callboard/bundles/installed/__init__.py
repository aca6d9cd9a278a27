"""Bundles on disk: unpacked, checked, installed all or nothing, found again."""
